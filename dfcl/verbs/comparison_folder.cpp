// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/comparison_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "dfcl/compare/comparison_entries.h"
#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/file_calls.h"
#include "dfcl/core/version.h"
#include "dfcl/data/study_keys.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/model/model_file.h"

namespace dfcl::verbs {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t kMostBytes = std::size_t{16} << 20;

constexpr const char* kLock = ".lock";

core::Error wrong_folder(const std::string& where, std::string what, std::string found = "") {
  return core::Error({.kind = core::ErrorKind::usage,
                      .what = std::move(what),
                      .where = where,
                      .found = std::move(found),
                      .hint = "choose another folder with -o"});
}

core::Error cannot(const std::string& path, std::string what, const std::string& found, std::string hint = "") {
  return core::Error({.kind = core::ErrorKind::file,
                      .what = std::move(what),
                      .where = path,
                      .found = found.empty() ? "" : fmt::format("'{}'", found),
                      .hint = std::move(hint)});
}

void make_folder(const std::string& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code) throw cannot(path, "cannot make the folder", code.message());
}

ordered_json read_json(const std::string& path) {
  ordered_json json = ordered_json::parse(io::read_text_file(path, kMostBytes), nullptr, false);
  if (json.is_discarded() || !json.is_object())
    throw cannot(path, "the file is damaged", "", "remove it, or the folder");
  return json;
}

// What is kept of the time that training took, by model.
ordered_json read_times(const std::string& path) {
  ordered_json times = read_json(path);
  for (const auto& [name, time] : times.items()) {
    if (!time.is_object() || !time.contains("seconds") || !time["seconds"].is_number() || !time.contains("resumed") ||
        !time["resumed"].is_boolean())
      throw cannot(path, "the file is damaged", name, "remove it: only the times of training are lost");
  }
  return times;
}

// What was compared must be compared still, by the same reference; more may come.
std::string entries_difference(const data::Study& kept, const data::Study& asked) {
  const std::vector<std::string>& before = kept.compare.methods;
  const std::vector<std::string>& now = asked.compare.methods;
  const std::string both = fmt::format("{} was {}, and is {} now", core::field_name("compare.methods"),
                                       fmt::join(before, ","), fmt::join(now, ","));
  if (before.empty() || now.empty() || before.front() != now.front()) return both;
  for (const std::string& method : before) {
    if (std::find(now.begin(), now.end(), method) == now.end()) return both;
  }
  if (kept.compare.seeds > asked.compare.seeds)
    return fmt::format("{} was {}, and is {} now", core::field_name("compare.seeds"), kept.compare.seeds,
                       asked.compare.seeds);
  const std::vector<compare::ComparisonEntry> asked_entries = compare::comparison_entries(asked);
  for (const compare::ComparisonEntry& entry : compare::comparison_entries(kept)) {
    const bool is_kept = std::any_of(asked_entries.begin(), asked_entries.end(), [&](const auto& other) {
      return other.file == entry.file && other.method == entry.method && other.settings == entry.settings;
    });
    if (!is_kept) return fmt::format("[sweep] had '{}'", entry.name);
  }
  return "";
}

// Why the folder cannot go on with what is asked; "" where it can.
std::string difference_of(const ordered_json& kept, const ordered_json& asked, const data::Study& study,
                          const std::string& where) {
  if (kept.contains("trial") && kept["trial"] != asked["trial"]) return "the trial was another one";
  for (const char* key : {"format", "version", "trial", "seed", "device"}) {
    if (!kept.contains(key) || kept[key] != asked[key]) {
      return fmt::format("{} was {}, and is {} now", key, kept.contains(key) ? kept[key].dump() : "not said",
                         asked[key].dump());
    }
  }
  const auto text = kept.find("study");
  if (text == kept.end() || !text->is_string()) throw wrong_folder(where, "the file is damaged");
  const data::Study before = io::parse_study(text->get<std::string>(), where, "", {}, false);
  const std::string difference = data::training_difference(before, study);
  return difference.empty() ? entries_difference(before, study) : difference;
}

bool is_free(const std::string& folder) {
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename();
    if (name != kLock && !io::is_temporary_name(name)) return false;  // a run that was killed at its first write
  }
  if (code) throw cannot(folder, "cannot read the folder", code.message());
  return true;
}

}  // namespace

// The kernel lets go of the lock when the process ends, however it ends. A file system without locks has none.
class ComparisonFolder::Lock {
 public:
  explicit Lock(const std::string& folder)
      : file_(core::open_file((fs::path(folder) / kLock).string(), O_RDWR | O_CREAT | O_NOFOLLOW, 0644)) {
    if (!file_) throw cannot(folder, "cannot write to the folder", std::strerror(errno));
    if (::flock(file_.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    throw cannot(folder, "another compare is running here", "", "wait for it to end, or choose another folder with -o");
  }

 private:
  core::Descriptor file_;
};

ComparisonFolder::ComparisonFolder(std::string folder, const data::Study& study, std::uint64_t trial,
                                   std::uint64_t seed, const std::string& device)
    : folder_(std::move(folder)) {
  require_place(folder_);
  ordered_json asked = {{"format", "dfcl-comparison"},
                        {"version", core::version()},
                        {"methods", study.compare.methods},
                        {"seeds", study.compare.seeds},
                        {"seed", seed},
                        {"device", device},
                        {"trial", fmt::format("{:016x}", trial)},
                        {"sweep", study.sweep.settings}};
  data::Study written = study;
  written.data.trial = "trial";  // where it lies is no part of it
  if (written.data.test) written.data.test = "test";
  asked["study"] = io::study_text(written);
  make_folder(folder_);
  lock_ = std::make_unique<Lock>(folder_);
  const std::string path = file("compare.json");
  if (std::error_code code; fs::exists(path, code)) {
    const ordered_json kept = read_json(path);
    if (kept == asked) return;
    const std::string difference = difference_of(kept, asked, written, path);
    if (!difference.empty()) throw wrong_folder(folder_, "the folder holds another comparison: " + difference);
  }
  io::write_text_file(path, asked.dump(2) + "\n");
}

ComparisonFolder::~ComparisonFolder() = default;

void ComparisonFolder::require_place(const std::string& folder) {
  if (folder.empty()) throw core::usage_error("-o", "no folder is named", "''", "the folder of the comparison");
  std::error_code code;
  const fs::file_status status = fs::status(folder, code);
  if (!fs::exists(status)) {
    if (code && code != std::errc::no_such_file_or_directory)
      throw cannot(folder, "cannot make the folder", code.message());
    return;
  }
  if (!fs::is_directory(status)) {
    throw cannot(folder, "is a file; compare writes a folder", "", "choose another name with -o");
  }
  if (!fs::exists(fs::path(folder) / "compare.json", code) && !is_free(folder))
    throw wrong_folder(folder, "the folder is not empty and holds no comparison");
}

std::string ComparisonFolder::file(const std::string& name) const { return (fs::path(folder_) / name).string(); }

std::string ComparisonFolder::model(const std::string& entry, std::uint64_t seed) const {
  return file(fmt::format("models/{}-{}.safetensors", entry, seed));
}

std::string ComparisonFolder::checkpoint(const std::string& entry, std::uint64_t seed) const {
  return file(fmt::format("checkpoints/{}-{}", entry, seed));
}

bool ComparisonFolder::has_model(const std::string& entry, std::uint64_t seed) const {
  std::error_code code;
  return fs::exists(model(entry, seed), code);
}

void ComparisonFolder::keep(const std::string& entry, std::uint64_t seed, const model::Model& trained, double seconds,
                            bool resumed) {
  const std::string path = file("training.json");
  ordered_json times = fs::exists(path) ? read_times(path) : ordered_json::object();
  times[fmt::format("{}-{}", entry, seed)] = {{"seconds", seconds}, {"resumed", resumed}};
  io::write_text_file(path, times.dump(2) + "\n");
  make_folder(file("models"));
  model::write_model(model(entry, seed), trained);
  forget_checkpoint(entry, seed);
}

void ComparisonFolder::forget_checkpoint(const std::string& entry, std::uint64_t seed) const {
  std::error_code code;
  fs::remove_all(checkpoint(entry, seed), code);
  if (code) throw cannot(checkpoint(entry, seed), "cannot remove", code.message());
}

std::optional<ComparisonFolder::Time> ComparisonFolder::time(const std::string& entry, std::uint64_t seed) const {
  const std::string path = file("training.json");
  if (!fs::exists(path)) return std::nullopt;
  const ordered_json times = read_times(path);
  const auto found = times.find(fmt::format("{}-{}", entry, seed));
  if (found == times.end()) return std::nullopt;
  return Time{found->at("seconds").get<double>(), found->at("resumed").get<bool>()};
}

}  // namespace dfcl::verbs
