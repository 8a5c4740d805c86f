// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/meta_file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/file_calls.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/printable.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tensors/strict_json.h"

namespace dfcl::io {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kFormat = "dfcl-meta";
constexpr int kVersion = 1;
constexpr std::size_t kMostBytes = std::size_t{4} << 20;
constexpr int kMostDepth = 2;

struct Contents {
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;
};

// The hash depends on the size of the blocks, which is part of the format.
Contents contents_of(int file, const std::string& path) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  Contents contents;
  std::vector<char> block(kBlock);
  for (std::size_t size = kBlock; size == kBlock;) {
    size = 0;
    while (size < kBlock) {
      const ssize_t got = core::read_some_at(file, block.data() + size, kBlock - size, contents.bytes + size);
      if (got < 0) throw core::file_error(path, "cannot read", errno);
      if (got == 0) break;
      size += static_cast<std::size_t>(got);
    }
    contents.hash = core::hash_bytes(block.data(), size, contents.hash);
    contents.bytes += size;
  }
  return contents;
}

Contents contents_of(const std::string& path) {
  const core::Descriptor file = core::open_file(path, O_RDONLY);
  if (!file) throw core::file_error(path, "cannot read", errno);
  return contents_of(file.number(), path);
}

ordered_json object_of(const std::vector<std::pair<std::string, std::string>>& entries) {
  ordered_json object = ordered_json::object();
  for (const auto& [name, value] : entries) object[name] = value;
  return object;
}

std::string hex(std::uint64_t number) { return fmt::format("{:016x}", number); }

// Our own words, read back; whoever changed the file may have written anything.
class MetaReader {
 public:
  explicit MetaReader(const std::string& path) : path_(path) {
    const std::string text = read_text_file(path, kMostBytes);
    (void)parse_strictly(text, kMostDepth, path);
    json_ = ordered_json::parse(text);  // again, in the order in which it was written
    if (!json_.is_object() || text_at(json_, "format") != kFormat) refuse("format", fmt::format("'{}'", kFormat));
    if (!json_.contains("meta") || json_["meta"] != kVersion) refuse("meta", fmt::format("{}", kVersion));
  }

  std::string text_of(const char* name) const { return text_at(json_, name); }
  std::uint64_t count_of(const char* name) const {
    if (!json_.contains(name) || !json_[name].is_number_unsigned()) refuse(name, "a count");
    return json_[name].get<std::uint64_t>();
  }
  void append_texts(const char* name, std::vector<std::pair<std::string, std::string>>& entries) const {
    if (!json_.contains(name) || !json_[name].is_object()) refuse(name, "an object");
    for (const auto& [key, value] : json_[name].items()) entries.emplace_back(key, text_at(json_[name], key));
  }

 private:
  std::string text_at(const ordered_json& object, const std::string& name) const {
    if (!object.contains(name) || !object[name].is_string()) refuse(name, "a text");
    return object[name].get<std::string>();
  }
  [[noreturn]] void refuse(const std::string& name, const std::string& expected) const {
    throw core::Error({.kind = core::ErrorKind::file,
                       .what = fmt::format("cannot read '{}'", core::printable(name)),
                       .where = path_,
                       .expected = expected,
                       .hint = "remove the file, or write the table anew"});
  }

  const std::string& path_;
  ordered_json json_;
};

}  // namespace

void remove_meta(const std::string& path) {
  try {
    if (std::error_code absent; fs::exists(path, absent)) (void)MetaReader(path);
    std::error_code ignored;
    fs::remove(path, ignored);
  } catch (const core::Error&) {  // somebody else's
  }
}

std::string meta_path(const std::string& table_path) { return path_without_links(table_path) + ".meta.json"; }

std::string meta_text(const data::Provenance& provenance,
                      const std::vector<std::pair<std::string, std::string>>& figures,
                      const std::vector<std::string>& columns, std::size_t num_rows, int table_file,
                      const std::string& path) {
  const Contents contents = contents_of(table_file, path);
  const ordered_json json = {{"format", kFormat},
                             {"meta", kVersion},
                             {"kind", provenance.kind},
                             {"version", provenance.version},
                             {"verb", provenance.verb},
                             {"options", object_of(provenance.options)},
                             {"figures", object_of(figures)},
                             {"columns", columns},
                             {"rows", num_rows},
                             {"bytes", contents.bytes},
                             {"contents", hex(contents.hash)}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

data::Provenance read_meta(const std::string& table_path) {
  std::error_code absent;
  std::string path = meta_path(table_path);
  if (!fs::exists(path, absent)) path = table_path + ".meta.json";  // beside the link, with a link of its own perhaps
  if (!fs::exists(path, absent)) return {};
  const MetaReader meta(path);
  const Contents contents = contents_of(table_path);
  if (meta.count_of("bytes") != contents.bytes || meta.text_of("contents") != hex(contents.hash)) {
    throw core::data_error(
        path, "it describes another table than the one beside it",
        fmt::format("{} bytes, contents {}", contents.bytes, hex(contents.hash)),
        fmt::format("{} bytes, contents {}", meta.count_of("bytes"), core::printable(meta.text_of("contents"))),
        "the table was changed since: write it anew, or remove this file and say what it said");
  }
  data::Provenance provenance{meta.text_of("kind"), meta.text_of("version"), meta.text_of("verb"), {}};
  meta.append_texts("options", provenance.options);
  meta.append_texts("figures", provenance.options);
  return provenance;
}

}  // namespace dfcl::io
