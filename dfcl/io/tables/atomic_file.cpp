// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "dfcl/core/error.h"

namespace dfcl::io {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& what, int code, const std::string& hint = "") {
  throw core::Error({.kind = core::ErrorKind::file,
                     .what = what,
                     .where = path,
                     .found = code == 0 ? "" : fmt::format("'{}'", std::strerror(code)),
                     .hint = hint});
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path)
    : path_(path), temporary_(fmt::format("{}.{}.partial", path, ::getpid())) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) fail(path, "cannot write a file over a folder", 0);
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty() && !fs::is_directory(parent, ignored)) {
    fail(path, "cannot write: the folder does not exist", 0, fmt::format("mkdir -p '{}'", parent.string()));
  }
  const int file = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) fail(path, "cannot write", errno);
  ::close(file);
}

AtomicFile::~AtomicFile() {
  if (!committed_) ::unlink(temporary_.c_str());
}

void AtomicFile::commit() {
  const int file = ::open(temporary_.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) fail(path_, "cannot write", errno);
  const int synced = ::fsync(file);
  const int code = errno;
  ::close(file);
  if (synced != 0 && code != EINVAL) fail(path_, "cannot write", code);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail(path_, "cannot write", errno);
  committed_ = true;
}

void write_text_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  std::FILE* stream = std::fopen(file.temporary_path().c_str(), "wb");
  if (stream == nullptr) fail(path, "cannot write", errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  const int code = errno;
  if ((std::fclose(stream) != 0) || !written) fail(path, "cannot write", written ? errno : code);
  file.commit();
}

std::string read_text_file(const std::string& path, std::size_t most_bytes) {
  std::error_code code;
  if (fs::is_directory(path, code)) fail(path, "cannot read: it is a folder", 0);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(path, "cannot read", errno);
  const std::uintmax_t size = fs::file_size(path, code);
  if (!code && size > most_bytes) fail(path, fmt::format("too large: more than {} bytes", most_bytes), 0);
  // A pipe or a device has no size: what comes is counted.
  std::string text;
  std::array<char, 1 << 16> block;
  while (stream.read(block.data(), block.size()), stream.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() > most_bytes) fail(path, fmt::format("too large: more than {} bytes", most_bytes), 0);
  }
  return text;
}

}  // namespace dfcl::io
