// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/comparison_folder.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "dfcl/core/error.h"
#include "dfcl/core/version.h"
#include "dfcl/io/atomic_file.h"
#include "dfcl/io/study_file.h"
#include "dfcl/model/model_file.h"

namespace dfcl::verbs {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t kMostBytes = std::size_t{16} << 20;

core::Error wrong_folder(const std::string& where, std::string what, std::string found = "") {
  return core::Error({.kind = core::ErrorKind::usage,
                      .what = std::move(what),
                      .where = where,
                      .found = std::move(found),
                      .hint = "choose another folder, or remove this one"});
}

ordered_json read_json(const std::string& path) {
  ordered_json json = ordered_json::parse(io::read_text_file(path, kMostBytes), nullptr, false);
  if (json.is_discarded() || !json.is_object()) throw wrong_folder(path, "the file is damaged");
  return json;
}

// What two comparisons differ in, in one word of the user's.
std::string difference_of(const ordered_json& kept, const ordered_json& asked) {
  for (const auto& [key, value] : asked.items()) {
    if (!kept.contains(key) || kept[key] != value) return key;
  }
  return "format";
}

}  // namespace

ComparisonFolder::ComparisonFolder(std::string folder, const data::Study& study, std::uint64_t trial,
                                   std::uint64_t seed)
    : folder_(std::move(folder)) {
  ordered_json asked = {{"format", "dfcl-comparison"},
                        {"version", core::version()},
                        {"methods", study.compare.methods},
                        {"seeds", study.compare.seeds},
                        {"seed", seed},
                        {"trial", fmt::format("{:016x}", trial)},
                        {"sweep", study.sweep.settings}};
  data::Study written = study;
  written.data.trial = "trial";  // where it lies is no part of it
  asked["study"] = io::study_text(written);
  const std::string path = file("compare.json");
  if (fs::exists(path)) {
    const ordered_json kept = read_json(path);
    if (kept != asked)
      throw wrong_folder(folder_, "the folder holds another comparison", "another " + difference_of(kept, asked));
    return;
  }
  if (fs::exists(folder_) && !(fs::is_directory(folder_) && fs::is_empty(folder_)))
    throw wrong_folder(folder_, "the folder is not empty and holds no comparison");
  fs::create_directories(folder_);
  io::write_text_file(path, asked.dump(2) + "\n");
}

std::string ComparisonFolder::file(const std::string& name) const { return (fs::path(folder_) / name).string(); }

std::string ComparisonFolder::model(const std::string& entry, std::uint64_t seed) const {
  return file(fmt::format("models/{}-{}.safetensors", entry, seed));
}

std::string ComparisonFolder::checkpoint(const std::string& entry, std::uint64_t seed) const {
  return file(fmt::format("checkpoints/{}-{}", entry, seed));
}

bool ComparisonFolder::has_model(const std::string& entry, std::uint64_t seed) const {
  return fs::exists(model(entry, seed));
}

void ComparisonFolder::keep(const std::string& entry, std::uint64_t seed, const model::Model& trained, double seconds,
                            bool resumed) {
  const std::string path = file("training.json");
  ordered_json times = fs::exists(path) ? read_json(path) : ordered_json::object();
  times[fmt::format("{}-{}", entry, seed)] = {{"seconds", seconds}, {"resumed", resumed}};
  io::write_text_file(path, times.dump(2) + "\n");
  fs::create_directories(file("models"));
  model::write_model(model(entry, seed), trained);
  forget_checkpoint(entry, seed);
}

void ComparisonFolder::forget_checkpoint(const std::string& entry, std::uint64_t seed) const {
  fs::remove_all(checkpoint(entry, seed));
}

std::optional<ComparisonFolder::Time> ComparisonFolder::time(const std::string& entry, std::uint64_t seed) const {
  const std::string path = file("training.json");
  if (!fs::exists(path)) return std::nullopt;
  const ordered_json times = read_json(path);
  const auto found = times.find(fmt::format("{}-{}", entry, seed));
  if (found == times.end() || !found->is_object()) return std::nullopt;
  return Time{found->value("seconds", 0.0), found->value("resumed", false)};
}

}  // namespace dfcl::verbs
