// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "dfcl/core/error.h"

namespace dfcl::core {
namespace {

Error file_error(const char* what, const std::string& where, int code) {
  return Error({.kind = ErrorKind::file, .what = what, .where = where, .found = std::strerror(code)});
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
  memory.file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (memory.file_ < 0) throw file_error("cannot open", path, errno);
  struct stat status = {};
  if (::fstat(memory.file_, &status) != 0) throw file_error("cannot read", path, errno);
  if (!S_ISREG(status.st_mode) || static_cast<std::size_t>(status.st_size) != bytes) {
    throw Error({.kind = ErrorKind::file,
                 .what = "a file of another size than it should have",
                 .where = path,
                 .found = std::to_string(status.st_size) + " bytes",
                 .expected = std::to_string(bytes) + " bytes"});
  }
  if (bytes == 0) return memory;
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, memory.file_, 0);
  if (data == MAP_FAILED) throw file_error("cannot map into memory", path, errno);
  memory.data_ = data;
  memory.bytes_ = bytes;
  return memory;
}

void Memory::open_file() {
  if (!path_.empty()) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file_ < 0) throw file_error("cannot make the file", path_, errno);
  } else {
    std::string name = folder_ + "/scratch-XXXXXX";
    file_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (file_ < 0) throw file_error("cannot make a file in the folder", folder_, errno);
    ::unlink(name.c_str());
  }
}

void Memory::resize(std::size_t bytes) {
  if (bytes == bytes_) return;
  if (folder_.empty() && path_.empty()) {
    if (bytes == 0) return release();
    void* grown = std::realloc(data_, bytes);
    if (grown == nullptr) throw std::bad_alloc();
    data_ = grown;
    bytes_ = bytes;
    return;
  }
  if (file_ < 0) open_file();
  const std::string& where = path_.empty() ? folder_ : path_;
  // Room on the disk is taken now: a page that cannot be written later would end the process.
  const int full = bytes > bytes_
                       ? ::posix_fallocate(file_, static_cast<off_t>(bytes_), static_cast<off_t>(bytes - bytes_))
                       : (::ftruncate(file_, static_cast<off_t>(bytes)) == 0 ? 0 : errno);
  if (full != 0) throw file_error("cannot make room on the disk", where, full);
  void* data = nullptr;
  if (bytes > 0 && data_ == nullptr) {
    data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  } else if (bytes > 0) {
    data = ::mremap(data_, bytes_, bytes, MREMAP_MAYMOVE);
  } else {
    ::munmap(data_, bytes_);
  }
  if (data == MAP_FAILED) throw file_error("cannot map into memory", where, errno);
  data_ = data;
  bytes_ = bytes;
}

}  // namespace dfcl::core
