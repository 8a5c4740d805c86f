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

// An object of texts, empty where the list is absent or is no such list.
ordered_json read_list(const std::string& folder) {
  constexpr std::size_t kMostBytes = 1'000'000;
  ordered_json list;
  try {
    if (fs::exists(list_in(folder)))
      list = ordered_json::parse(io::read_text_file(list_in(folder), kMostBytes), nullptr, false);
  } catch (const core::Error&) {  // then nothing is known to be the run's own
  }
  return list.is_object() ? list : ordered_json::object();
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
  std::error_code absent;
  if (!folder_ || !fs::exists(output, absent)) return false;
  const ordered_json list = read_list(*folder_);
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
