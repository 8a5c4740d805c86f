// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "dfcl/core/error.h"
#include "dfcl/core/file_calls.h"

namespace dfcl::core {
namespace {

// Rows of a large table are read in random order: with pages of 2 MiB the processor keeps the addresses of all.
void ask_for_large_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
  constexpr std::size_t kLeast = std::size_t{32} << 20;
  if (bytes < kLeast) return;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(data) + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / kPage * kPage;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // a wish: failing is no harm
#endif
}

}  // namespace

Memory::~Memory() { release(); }

Memory& Memory::operator=(Memory&& other) noexcept {
  if (this == &other) return *this;
  release();
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  folder_ = std::move(other.folder_);
  path_ = std::move(other.path_);
  other.folder_.clear();
  other.path_.clear();
  file_ = std::exchange(other.file_, -1);
  grows_ = std::exchange(other.grows_, false);
  return *this;
}

void Memory::release() {
  if (file_ < 0) {
    std::free(data_);
  } else {
    if (data_ != nullptr) ::munmap(data_, bytes_);
    ::close(file_);
  }
  data_ = nullptr;
  bytes_ = 0;
  file_ = -1;
}

Memory Memory::that_grows() {
  Memory memory;
  memory.grows_ = true;
  return memory;
}

Memory Memory::scratch(const std::string& folder) {
  Memory memory;
  memory.folder_ = folder;
  return memory;
}

Memory Memory::new_file(const std::string& path) {
  Memory memory;
  memory.path_ = path;
  memory.folder_ = path.substr(0, path.find_last_of('/') + 1);
  return memory;
}

Memory Memory::of_file(const std::string& path, std::size_t bytes) {
  Memory memory;
  memory.path_ = path;
  memory.folder_ = path.substr(0, path.find_last_of('/') + 1);
  memory.file_ = core::open_file(path, O_RDONLY | O_NONBLOCK).release();
  if (memory.file_ < 0) throw file_error(path, "cannot open", errno);
  struct stat status = {};
  if (::fstat(memory.file_, &status) != 0) throw file_error(path, "cannot read", errno);
  if (!S_ISREG(status.st_mode) || static_cast<std::size_t>(status.st_size) != bytes) {
    throw Error({.kind = ErrorKind::file,
                 .what = "a file of another size than it should have",
                 .where = path,
                 .found = std::to_string(status.st_size) + " bytes",
                 .expected = std::to_string(bytes) + " bytes"});
  }
  if (bytes == 0) return memory;
  memory.data_ = map_file(memory.file_, bytes, false);
  if (memory.data_ == nullptr) throw file_error(path, "cannot map into memory", errno);
  memory.bytes_ = bytes;
  return memory;
}

void Memory::open_file() {
  if (!path_.empty()) {
    file_ = core::open_file(path_, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0644).release();
    if (file_ < 0) throw file_error(path_, "cannot make the file", errno);
    return;
  }
  // A file that never has a name leaves nothing behind, however the process ends. Not all file systems have them.
  file_ = core::open_file(folder_, O_RDWR | O_TMPFILE, 0600).release();
  if (file_ >= 0) return;
  const std::string name = folder_ + "/scratch-" + random_name();
  file_ = core::open_file(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600).release();
  if (file_ < 0) throw file_error(folder_, "cannot make a file in the folder", errno);
  ::unlink(name.c_str());
}

void Memory::resize(std::size_t bytes) {
  if (bytes == bytes_) return;
  if (folder_.empty() && path_.empty()) {
    if (bytes == 0) return release();
    const bool is_one_piece = data_ == nullptr && !grows_;
    void* grown = fails_here(FileCall::allocate) ? nullptr : std::realloc(data_, bytes);
    if (grown == nullptr) throw std::bad_alloc();
    data_ = grown;
    bytes_ = bytes;
    // An array that grows is left alone: the system moves its pages without a copy only while all are of one kind.
    if (is_one_piece) ask_for_large_pages(data_, bytes_);
    return;
  }
  if (file_ < 0) open_file();
  const std::string& where = path_.empty() ? folder_ : path_;
  // Room on the disk is taken now: a page that cannot be written later would end the process.
  const int full = bytes > bytes_ ? reserve_file(file_, bytes_, bytes - bytes_)
                                  : (::ftruncate(file_, static_cast<off_t>(bytes)) == 0 ? 0 : errno);
  if (full != 0) throw file_error(where, "cannot make room on the disk", full);
  void* data = nullptr;
  if (bytes > 0 && data_ == nullptr) {
    data = map_file(file_, bytes, true);
  } else if (bytes > 0) {
    data = remap_file(data_, bytes_, bytes);
  } else {
    ::munmap(data_, bytes_);
  }
  if (bytes > 0 && data == nullptr) throw file_error(where, "cannot map into memory", errno);
  data_ = data;
  bytes_ = bytes;
}

}  // namespace dfcl::core
