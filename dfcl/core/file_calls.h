// SPDX-License-Identifier: Apache-2.0
//
// The one place where this library opens, reads, writes, syncs, renames and maps files. Every reader and writer calls
// these, so that a test can make the N-th call of a kind fail, or end the process at it: in this process with
// set_fault(), in another one with the environment variable DFCL_FAULT, "write:3:fail" or "rename:1:die". Without a
// fault a call costs one load of an atomic more than the system's own.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "dfcl/core/error.h"

namespace dfcl::core {

enum class FileCall : std::uint8_t { open, read, write, sync, rename, map, reserve, allocate };

struct Fault {
  FileCall call = FileCall::write;
  std::uint64_t at = 1;  // the first call is 1
  bool dies = false;     // as if killed; else the call fails: no space for reserve, no memory for allocate, else EIO
};

// None: no fault. Counting starts anew.
void set_fault(const std::optional<Fault>& fault);

// Whether this call is the one that must fail; sets errno. For allocations of ours, which are no calls of the system.
bool fails_here(FileCall call);

// A descriptor that is closed at the end of its scope; below 0: none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  // The caller closes it from now on.
  int release() { return std::exchange(number_, -1); }
  void close();

 private:
  int number_;
};

// As the system's: below 0 or null with errno. Interrupted calls are repeated; files are never handed to children.
Descriptor open_file(const std::string& path, int flags, unsigned mode = 0);
ssize_t read_some(int file, void* bytes, std::size_t size);
ssize_t read_some_at(int file, void* bytes, std::size_t size, std::uint64_t place);
ssize_t write_some(int file, const void* bytes, std::size_t size);
int sync_file(int file);
int rename_file(const std::string& from, const std::string& to);
// Room on the disk for these bytes; returns the error, 0 for none.
int reserve_file(int file, std::size_t begin, std::size_t bytes);
// A new map of the file's first bytes, or a map made larger or smaller; null where it cannot be.
void* map_file(int file, std::size_t bytes, bool is_shared);
void* remap_file(void* data, std::size_t bytes, std::size_t new_bytes);

// Error of kind file: what the system says of its last call.
Error file_error(const std::string& path, std::string what, int code, std::string hint = "");

// All bytes, or Error of kind file that names the path.
void write_all(int file, std::string_view bytes, const std::string& path);

// Makes a rename in this folder last through a loss of power. A folder that cannot be opened or synced is left as it
// is.
void sync_folder(const std::string& folder);

// Which file this is and when it was last written: equal as long as nobody replaced or changed it.
struct FileVersion {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
  std::int64_t changed_seconds = 0;
  std::int64_t changed_nanoseconds = 0;
  bool operator==(const FileVersion&) const = default;
};

// Throws Error of kind file.
FileVersion version_of(int file, const std::string& path);

// Sixteen hexadecimal digits that nobody can guess.
std::string random_name();

}  // namespace dfcl::core
