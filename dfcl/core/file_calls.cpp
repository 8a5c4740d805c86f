// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/file_calls.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace dfcl::core {
namespace {

constexpr std::array<std::string_view, 8> kNames = {"open",   "read", "write",   "sync",
                                                    "rename", "map",  "reserve", "allocate"};

// "write:3:fail"; anything else is no fault.
std::optional<Fault> parse_fault(const char* text) {
  if (text == nullptr) return std::nullopt;
  const std::string_view all(text);
  const std::size_t first = all.find(':');
  const std::size_t second = first == std::string_view::npos ? first : all.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  Fault fault;
  const auto number = std::from_chars(all.data() + first + 1, all.data() + second, fault.at);
  fault.dies = all.substr(second + 1) == "die";
  if (number.ec != std::errc() || !(fault.dies || all.substr(second + 1) == "fail")) return std::nullopt;
  for (std::size_t call = 0; call < kNames.size(); ++call) {
    fault.call = static_cast<FileCall>(call);
    if (all.substr(0, first) == kNames[call]) return fault;
  }
  return std::nullopt;
}

struct Faults {
  std::atomic<bool> is_set = false;
  std::atomic<std::uint64_t> calls = 0;  // of the kind that is to fail
  Fault fault;

  Faults() { set(parse_fault(std::getenv("DFCL_FAULT"))); }
  void set(const std::optional<Fault>& wanted) {
    fault = wanted.value_or(Fault());
    calls = 0;
    is_set = wanted.has_value();
  }
};

// The one global of this library: a fault is asked for from outside the calls that it changes.
Faults& faults() {
  static Faults all;
  return all;
}

int error_of(FileCall call) {
  if (call == FileCall::reserve) return ENOSPC;
  return call == FileCall::allocate || call == FileCall::map ? ENOMEM : EIO;
}

template <class Call>
auto repeated(Call&& call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

}  // namespace

void set_fault(const std::optional<Fault>& fault) { faults().set(fault); }

bool fails_here(FileCall call) {
  Faults& all = faults();
  if (!all.is_set.load(std::memory_order_relaxed) || all.fault.call != call) return false;
  if (all.calls.fetch_add(1) + 1 != all.fault.at) return false;
  if (all.fault.dies) ::kill(::getpid(), SIGKILL);
  errno = error_of(call);
  return true;
}

void Descriptor::close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

Descriptor open_file(const std::string& path, int flags, unsigned mode) {
  if (fails_here(FileCall::open)) return Descriptor();
  return Descriptor(repeated([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); }));
}

ssize_t read_some(int file, void* bytes, std::size_t size) {
  if (fails_here(FileCall::read)) return -1;
  return repeated([&] { return ::read(file, bytes, size); });
}

ssize_t read_some_at(int file, void* bytes, std::size_t size, std::uint64_t place) {
  if (fails_here(FileCall::read)) return -1;
  return repeated([&] { return ::pread(file, bytes, size, static_cast<off_t>(place)); });
}

ssize_t write_some(int file, const void* bytes, std::size_t size) {
  if (fails_here(FileCall::write)) return -1;
  return repeated([&] { return ::write(file, bytes, size); });
}

int sync_file(int file) {
  if (fails_here(FileCall::sync)) return -1;
  const int done = repeated([&] { return ::fsync(file); });
  return done != 0 && errno == EINVAL ? 0 : done;  // a file system that syncs nothing
}

int rename_file(const std::string& from, const std::string& to) {
  if (fails_here(FileCall::rename)) return -1;
  return std::rename(from.c_str(), to.c_str());
}

int reserve_file(int file, std::size_t begin, std::size_t bytes) {
  if (fails_here(FileCall::reserve)) return errno;
  int code = EINTR;
  while (code == EINTR) code = ::posix_fallocate(file, static_cast<off_t>(begin), static_cast<off_t>(bytes));
  return code;
}

void* map_file(int file, std::size_t bytes, bool is_shared) {
  if (fails_here(FileCall::map)) return nullptr;
  const int flags = is_shared ? MAP_SHARED : MAP_PRIVATE | MAP_NORESERVE;
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  return data == MAP_FAILED ? nullptr : data;
}

void* remap_file(void* data, std::size_t bytes, std::size_t new_bytes) {
  if (fails_here(FileCall::map)) return nullptr;
  void* moved = ::mremap(data, bytes, new_bytes, MREMAP_MAYMOVE);
  return moved == MAP_FAILED ? nullptr : moved;
}

Error file_error(const std::string& path, std::string what, int code, std::string hint) {
  return Error({.kind = ErrorKind::file,
                .what = std::move(what),
                .where = path,
                .found = code == 0 ? "" : "'" + std::string(std::strerror(code)) + "'",
                .hint = std::move(hint)});
}

void write_all(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write_some(file, bytes.data(), bytes.size());
    if (written < 0) throw file_error(path, "cannot write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void sync_folder(const std::string& folder) {
  const Descriptor file = open_file(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  if (file) (void)sync_file(file.number());
}

FileVersion version_of(int file, const std::string& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0) throw file_error(path, "cannot read", errno);
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
          static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

std::string random_name() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof(number), 0) != static_cast<ssize_t>(sizeof(number)))
    throw Error({.what = "cannot get random numbers from the system"});
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace dfcl::core
