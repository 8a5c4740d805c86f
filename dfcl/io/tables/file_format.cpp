// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/file_format.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>

#include "dfcl/core/error.h"
#include "dfcl/core/file_calls.h"
#include "dfcl/io/tables/memory_table.h"
#include "dfcl/io/tables/table_format.h"

namespace dfcl::io {
namespace {

namespace fs = std::filesystem;

const TableFormat* find_ending(const std::string& path) {
  for (const TableFormat* format : table_formats()) {
    for (const std::string_view ending : format->endings) {
      if (!ending.empty() && path.ends_with(ending)) return format;
    }
  }
  return nullptr;
}

// All endings that can be written: ".parquet, .csv or .arrow".
std::string known_endings() {
  std::string all;
  for (const TableFormat* format : table_formats()) {
    if (format->create != nullptr) all += fmt::format("{}{}", all.empty() ? "" : ", ", format->endings.front());
  }
  return all;
}

std::vector<std::string> glob_matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> matches;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) {
      std::error_code code;
      const std::string file = found.gl_pathv[i];
      if (fs::is_regular_file(file, code) && !file.ends_with(".meta.json")) matches.push_back(file);
    }
  }
  ::globfree(&found);
  return matches;
}

}  // namespace

const TableFormat& format_of_name(const std::string& path) {
  if (const TableFormat* format = find_ending(path); format != nullptr && format->create != nullptr) return *format;
  throw core::Error({.kind = core::ErrorKind::usage,
                     .what = "unknown file ending",
                     .where = path,
                     .expected = "one of " + known_endings()});
}

const TableFormat& format_of_contents(const std::string& path) {
  std::error_code absent;
  if (fs::is_directory(path, absent)) throw core::file_error(path, "cannot read: it is a folder", 0);
  const core::Descriptor file = core::open_file(path, O_RDONLY);
  if (!file) throw core::file_error(path, "cannot read", errno);
  std::array<char, kHeadBytes> head{};
  const ssize_t got = core::read_some(file.number(), head.data(), head.size());
  if (got < 0) throw core::file_error(path, "cannot read", errno);
  const auto size = static_cast<std::size_t>(got);
  if (size == 0) throw core::Error({.kind = core::ErrorKind::data, .what = "the file is empty", .where = path});
  std::vector<std::string_view> names;
  for (const TableFormat* format : table_formats()) {
    if (format->starts_with(std::string_view(head.data(), size))) return *format;
    names.emplace_back(format->name);
  }
  throw core::Error({.kind = core::ErrorKind::file,
                     .what = "unknown kind of file",
                     .where = path,
                     .expected = fmt::format("one of {}", fmt::join(names, ", "))});
}

std::vector<std::string> input_files(const std::string& path) {
  if (is_memory_table(path)) return {path};
  std::vector<std::string> files;
  std::error_code code;
  if (path.find('\0') != std::string::npos) {
    throw core::Error({.kind = core::ErrorKind::file, .what = "a zero byte in the name of a file", .where = path});
  }
  if (fs::is_directory(path, code)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
      if (entry.is_regular_file(code) && find_ending(entry.path().string()) != nullptr)
        files.push_back(entry.path().string());
    }
  } else if (fs::exists(path, code)) {
    // A table is read more than once, and its size says how much memory it can need: no pipe and no device will do.
    if (!fs::is_regular_file(path, code)) {
      throw core::Error({.kind = core::ErrorKind::file,
                         .what = "not a plain file",
                         .where = path,
                         .hint = "write the table to a file first"});
    }
    files.push_back(path);
  } else if (path.find_first_of("*?[") != std::string::npos) {
    files = glob_matches(path);
  } else {
    throw core::Error({.kind = core::ErrorKind::file, .what = "no such file", .where = path});
  }
  if (files.empty()) {
    throw core::Error({.kind = core::ErrorKind::file,
                       .what = "no table files here",
                       .where = path,
                       .expected = fmt::format("at least one file that ends with {}", known_endings())});
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace dfcl::io
