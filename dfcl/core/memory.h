// SPDX-License-Identifier: Apache-2.0
//
// A block of memory that grows: on the heap, or in a file mapped into memory, for data larger than the machine's
// memory. The system writes pages of a file to disk and takes them back as it needs, so they do not count as memory of
// the process; the disk must hold them. A full disk is an error of kind file when the block grows, not a crash later.
#pragma once

#include <cstddef>
#include <string>

namespace dfcl::core {

class Memory {
 public:
  Memory() = default;  // on the heap
  // On the heap, without large pages, which the system copies when an array grows: for arrays that come in many pieces.
  static Memory that_grows();
  ~Memory();
  Memory(Memory&& other) noexcept { *this = static_cast<Memory&&>(other); }
  Memory& operator=(Memory&& other) noexcept;

  // In a file without a name in this folder, gone with the object; "": on the heap. The file is made when it is needed.
  static Memory scratch(const std::string& folder);
  // In a new file of this name, which stays.
  static Memory new_file(const std::string& path);
  // What a file of this size holds. What is written to it is seen by this object only.
  static Memory of_file(const std::string& path, std::size_t bytes);

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  // Keeps the contents; what is new is not initialised. Throws Error of kind file, or std::bad_alloc.
  void resize(std::size_t bytes);
  // Empty memory of the same kind, but never in a file with a name.
  Memory another() const { return scratch(folder_); }

 private:
  void open_file();
  void release();

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::string folder_;  // "": the heap, unless there is a path
  std::string path_;    // of a file with a name
  int file_ = -1;       // below 0: the heap, or a file that was not needed yet
  bool grows_ = false;  // on the heap: not one piece
};

}  // namespace dfcl::core
