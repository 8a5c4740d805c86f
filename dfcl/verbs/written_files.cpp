// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/written_files.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/core/file_calls.h"
#include "dfcl/core/hash.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/verbs/outputs.h"

namespace dfcl::verbs {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// In the place of a hash: the run ended while it wrote the file, which was its own to write.
constexpr const char* kBeingWritten = "being written";

std::string list_in(const std::string& folder) { return (fs::path(folder) / "outputs.json").string(); }

std::string place_of(const std::string& file) { return fs::weakly_canonical(fs::absolute(file)).string(); }

bool is_list(const ordered_json& json) {
  if (!json.is_object()) return false;
  for (const auto& [file, hash] : json.items()) {
    if (!hash.is_string() || !fs::path(file).is_absolute()) return false;
    const auto text = hash.get<std::string>();
    const bool is_hash = text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!is_hash && !text.empty() && text != kBeingWritten) return false;
  }
  return true;
}

// An object of texts, empty where there is none. Throws Error of kind file where something else has its name: it is
// somebody else's, and would be replaced.
ordered_json read_list(const std::string& folder) {
  constexpr std::size_t kMostBytes = 1'000'000;
  std::error_code absent;
  if (!fs::exists(list_in(folder), absent)) return ordered_json::object();
  ordered_json list = ordered_json::parse(io::read_text_file(list_in(folder), kMostBytes), nullptr, false);
  if (is_list(list)) return list;
  throw core::Error({.kind = core::ErrorKind::file,
                     .what = "not the list of what a run has written",
                     .where = list_in(folder),
                     .hint = "move the file, or choose another folder"});
}

// "" where it cannot be read.
std::string hash_of_file(const std::string& path) {
  const core::Descriptor file = core::open_file(path, O_RDONLY);
  if (!file) return "";
  std::vector<char> bytes(std::size_t{1} << 20);
  std::uint64_t hash = 0;
  for (std::size_t filled = bytes.size(); filled == bytes.size();) {  // whole pieces, whatever one call reads
    filled = 0;
    while (filled < bytes.size()) {
      const ssize_t count = core::read_some(file.number(), bytes.data() + filled, bytes.size() - filled);
      if (count < 0) return "";
      if (count == 0) break;
      filled += static_cast<std::size_t>(count);
    }
    hash = core::hash_bytes(bytes.data(), filled, hash);
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace

bool WrittenFiles::wrote(const std::string& output) const {
  if (!folder_) return false;
  const ordered_json list = read_list(*folder_);
  std::error_code absent;
  if (!fs::exists(output, absent)) return false;
  const auto found = list.find(place_of(output));
  if (found == list.end() || !found->is_string()) return false;
  const auto kept = found->get<std::string>();
  return kept == kBeingWritten || (!kept.empty() && kept == hash_of_file(output));
}

void WrittenFiles::require_output(const char* field, const std::string& output,
                                  std::initializer_list<std::string> inputs, const core::RunContext& context) const {
  require_place(field, output, inputs);
  if (!wrote(output)) verbs::require_output(field, output, {}, context);
}

void WrittenFiles::write(const std::string& output, const std::function<void()>& write) const {
  if (!folder_ || io::is_stream(output)) return write();
  ordered_json list = read_list(*folder_);
  const auto keep = [&](const std::string& hash) {
    list[place_of(output)] = hash;
    io::write_text_file(list_in(*folder_), list.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  };
  keep(kBeingWritten);
  write();
  keep(hash_of_file(output));
}

}  // namespace dfcl::verbs
