// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>

#include "dfcl/core/error.h"

namespace dfcl::io {
namespace {

namespace fs = std::filesystem;
using core::file_error;

constexpr std::string_view kEnding = ".partial";
constexpr std::size_t kDigits = 16;
constexpr int kMostLinks = 40;

// Where the bytes for a path go.
struct Place {
  std::string path;       // without links
  bool is_there = false;  // a regular file, unless it is a stream
  bool is_stream = false;
  std::optional<int> own_descriptor;  // /dev/stdout and its like
  struct stat status {};
};

bool lies_in_proc(const fs::path& path) {
  struct statfs system {};
  return ::statfs(path.has_parent_path() ? path.parent_path().c_str() : ".", &system) == 0 &&
         system.f_type == PROC_SUPER_MAGIC;
}

// N of /proc/self/fd/N. Opening it anew would give another position in the file than its owner has.
std::optional<int> own_descriptor(const fs::path& path) {
  std::error_code absent;
  const fs::path folder = fs::canonical(path.parent_path(), absent);
  const std::string name = path.filename();
  int number = -1;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  if (absent || folder != fmt::format("/proc/{}/fd", ::getpid()) || parsed.ptr != name.data() + name.size())
    return std::nullopt;
  return number;
}

// Links are followed by hand: one that points to nothing yet names a new file, and one of /proc names no file at all.
Place resolve(const std::string& path) {
  Place place;
  fs::path at = path;
  for (int links = 0;; ++links) {
    place.is_there = ::lstat(at.c_str(), &place.status) == 0;
    if (!place.is_there || !S_ISLNK(place.status.st_mode)) break;
    if (lies_in_proc(at)) {
      place.is_stream = true;
      place.own_descriptor = own_descriptor(at);
      break;
    }
    std::error_code code;
    const fs::path target = fs::read_symlink(at, code);
    if (code || links == kMostLinks) throw file_error(path, "cannot write: a link that leads nowhere", ELOOP);
    at = at.parent_path() / target;  // the target alone where it is absolute
  }
  place.path = at;
  if (place.is_stream || !place.is_there) return place;
  if (S_ISDIR(place.status.st_mode)) throw file_error(path, "cannot write a file over a folder", 0);
  place.is_stream = S_ISCHR(place.status.st_mode) || S_ISFIFO(place.status.st_mode);
  if (!place.is_stream && !S_ISREG(place.status.st_mode))
    throw file_error(path, "cannot write: it is neither a file nor a stream", 0, "choose another name");
  return place;
}

// The lock of a temporary is held by the process that writes it and ends with it, however it ends: one that can be had
// belongs to nobody. Its maker notices if it is taken away before it is locked.
void remove_dead(const fs::path& folder, const std::string& name) {
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.empty() ? "." : folder, code)) {
    const std::string other = entry.path().filename();
    if (!is_temporary_name(other) || other.size() != name.size() + 1 + kDigits + kEnding.size() ||
        !other.starts_with(name + "."))
      continue;
    // Whichever its permissions allow: they are those of the file that it was to replace.
    // Some network file systems lock only what is open for writing.
    core::Descriptor file = core::open_file(entry.path(), O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    if (!file) file = core::open_file(entry.path(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!file) file = core::open_file(entry.path(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    struct stat status {};
    if (!file || ::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (::flock(file.number(), LOCK_EX | LOCK_NB) == 0) ::unlink(entry.path().c_str());
  }
}

// Only root may give files away; others keep the group where they belong to it, and the permissions. A group that
// cannot be kept gets no more than everybody: what the old one might read, another might not.
void keep_owner(int file, const struct stat& status) {
  mode_t mode = status.st_mode & 0777;
  const bool has_group =
      ::fchown(file, status.st_uid, status.st_gid) == 0 || ::fchown(file, static_cast<uid_t>(-1), status.st_gid) == 0;
  if (!has_group) mode &= static_cast<mode_t>(0707 | ((mode & 07) << 3));
  if (::fchmod(file, mode) != 0) errno = 0;  // a file system without permissions
}

}  // namespace

bool is_stream(const std::string& path) { return resolve(path).is_stream; }

std::string path_without_links(const std::string& path) {
  const Place place = resolve(path);
  return place.is_stream ? path : place.path;
}

core::Descriptor open_to_append(const std::string& path) {
  const Place place = resolve(path);
  if (place.own_descriptor) return core::Descriptor(::fcntl(*place.own_descriptor, F_DUPFD_CLOEXEC, 3));
  return core::open_file(path, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY, 0644);
}

bool is_temporary_name(std::string_view name) {
  if (name.size() < kDigits + 1 + kEnding.size() || !name.ends_with(kEnding)) return false;
  const std::string_view digits = name.substr(name.size() - kEnding.size() - kDigits, kDigits);
  return name[name.size() - kEnding.size() - kDigits - 1] == '.' &&
         digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  const Place place = resolve(path);
  place_ = place.path;
  is_stream_ = place.is_stream;
  if (is_stream_) {
    if (place.own_descriptor) file_ = core::Descriptor(::fcntl(*place.own_descriptor, F_DUPFD_CLOEXEC, 3));
    if (place.own_descriptor ? !file_ : ::access(place_.c_str(), W_OK) != 0)
      throw file_error(path, "cannot write", errno);
    return;
  }
  const fs::path folder = fs::path(place_).parent_path();
  std::error_code absent;
  if (!folder.empty() && !fs::is_directory(folder, absent))
    throw file_error(path, "cannot write: the folder does not exist", 0, fmt::format("mkdir -p '{}'", folder.string()));
  remove_dead(folder, fs::path(place_).filename());
  make_temporary(place.is_there ? 0600 : 0644);
  if (!place.is_there) return;
  keep_owner(file_.number(), place.status);
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::make_temporary(unsigned mode) {
  // Some file systems say 0 links of every file: then the last one is taken, and if it does go, its renaming fails.
  constexpr int kMostTries = 8;
  struct stat status {};
  for (int tries = 1;; ++tries) {
    const std::string name = fmt::format("{}.{}{}", place_, core::random_name(), kEnding);
    file_ = core::open_file(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    if (!file_) throw file_error(path_, "cannot write", errno);
    temporary_ = name;
    const bool is_locked = ::flock(file_.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    // Whoever else holds the lock is about to remove the file.
    const bool stands = is_locked && (::fstat(file_.number(), &status) != 0 || status.st_nlink > 0);
    if (stands || tries == kMostTries) return;
    ::unlink(name.c_str());
  }
}

int AtomicFile::descriptor() {
  if (!file_) file_ = core::open_file(place_, O_WRONLY | O_APPEND | O_NOCTTY);
  if (!file_) throw file_error(path_, "cannot write", errno);
  return file_.number();
}

void AtomicFile::write(std::string_view bytes) { core::write_all(descriptor(), bytes, path_); }

void AtomicFile::commit() {
  if (is_stream_) return;
  if (core::sync_file(file_.number()) != 0) throw file_error(path_, "cannot write", errno);
  if (core::rename_file(temporary_, place_) != 0) throw file_error(path_, "cannot write", errno);
  temporary_.clear();
  file_.close();
  core::sync_folder(fs::path(place_).parent_path());
}

void write_text_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

std::string read_text_file(const std::string& path, std::size_t most_bytes) {
  std::error_code code;
  if (fs::is_directory(path, code)) throw file_error(path, "cannot read: it is a folder", 0);
  const core::Descriptor file = core::open_file(path, O_RDONLY);
  if (!file) throw file_error(path, "cannot read", errno);
  const auto too_large = [&] { return file_error(path, fmt::format("too large: more than {} bytes", most_bytes), 0); };
  struct stat status {};
  if (::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode) &&
      static_cast<std::uintmax_t>(status.st_size) > most_bytes)
    throw too_large();
  // A pipe or a device has no size: what comes is counted.
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t got = core::read_some(file.number(), block.data(), block.size());
    if (got < 0) throw file_error(path, "cannot read", errno);
    if (got == 0) return text;
    text.append(block, 0, static_cast<std::size_t>(got));
    if (text.size() > most_bytes) throw too_large();
  }
}

}  // namespace dfcl::io
