// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/file_format.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "dfcl/core/error.h"
#include "dfcl/io/tables/memory_table.h"

namespace dfcl::io {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, FileFormat>, 6> kEndings = {{{".csv", FileFormat::csv},
                                                                              {".csv.gz", FileFormat::csv_gzip},
                                                                              {".parquet", FileFormat::parquet},
                                                                              {".arrow", FileFormat::arrow_file},
                                                                              {".feather", FileFormat::arrow_file},
                                                                              {".ipc", FileFormat::arrow_file}}};

std::optional<FileFormat> format_of_ending(const std::string& path) {
  for (const auto& [ending, format] : kEndings) {
    if (path.ends_with(ending)) return format;
  }
  return std::nullopt;
}

std::vector<std::string> glob_matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> matches;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) {
      std::error_code code;
      if (fs::is_regular_file(found.gl_pathv[i], code)) matches.emplace_back(found.gl_pathv[i]);
    }
  }
  ::globfree(&found);
  return matches;
}

}  // namespace

FileFormat format_of_name(const std::string& path) {
  if (const auto format = format_of_ending(path)) return *format;
  throw core::Error({.kind = core::ErrorKind::usage,
                     .what = "unknown file ending",
                     .where = path,
                     .expected = ".parquet, .csv, .csv.gz or .arrow"});
}

FileFormat format_of_contents(const std::string& path) {
  std::FILE* file = fs::is_directory(path) ? nullptr : std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    throw core::Error({.kind = core::ErrorKind::file,
                       .what = "cannot read",
                       .where = path,
                       .found = fs::is_directory(path) ? "a folder" : fmt::format("'{}'", std::strerror(errno))});
  }
  std::array<char, 6> head{};
  const std::size_t size = std::fread(head.data(), 1, head.size(), file);
  std::fclose(file);
  if (size == 0) throw core::Error({.kind = core::ErrorKind::data, .what = "the file is empty", .where = path});
  const std::string_view bytes(head.data(), size);
  if (bytes.starts_with("PAR1")) return FileFormat::parquet;
  if (bytes == "ARROW1") return FileFormat::arrow_file;
  if (bytes.starts_with("\xff\xff\xff\xff")) return FileFormat::arrow_stream;
  if (bytes.starts_with("\x1f\x8b")) return FileFormat::csv_gzip;
  if (bytes.find('\0') != std::string_view::npos) {
    throw core::Error({.kind = core::ErrorKind::file,
                       .what = "unknown kind of file",
                       .where = path,
                       .expected = "CSV, gzipped CSV, Parquet or Arrow IPC"});
  }
  return FileFormat::csv;
}

const char* to_text(FileFormat format) {
  switch (format) {
    case FileFormat::csv: return "CSV";
    case FileFormat::csv_gzip: return "gzipped CSV";
    case FileFormat::parquet: return "Parquet";
    case FileFormat::arrow_file: return "Arrow IPC";
    case FileFormat::arrow_stream: return "Arrow IPC stream";
  }
  return "";
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
      if (entry.is_regular_file(code) && format_of_ending(entry.path().string()))
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
                       .expected = "at least one .csv, .csv.gz, .parquet or .arrow file"});
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace dfcl::io
