// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/trial/trial_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/file_calls.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/version.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/tables/atomic_file.h"

namespace dfcl::io {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kMagic = "dfcl trial cache";
constexpr int kCacheVersion = 3;
constexpr std::size_t kMostHeaderBytes = std::size_t{1} << 30;
constexpr std::size_t kMostFeatures = 1'000'000;

std::string hex(std::uint64_t number) { return fmt::format("{:016x}", number); }

std::string path_of(const std::string& folder, std::uint64_t key) {
  return (fs::path(folder) / ("trial-" + hex(key))).string();
}

core::Error damaged(const std::string& where, const std::string& what) {
  return core::Error({.kind = core::ErrorKind::file,
                      .what = "a damaged cache: " + what,
                      .where = where,
                      .hint = "remove it; it is made anew from the trial"});
}

// What the fingerprint of a trial leaves out.
std::uint64_t hash_of_rest(const data::Trial& trial) {
  std::uint64_t hash = core::hash_bytes(trial.split.data(), trial.split.size());
  for (const data::Guardrail& guardrail : trial.guardrails)
    hash = core::hash_bytes(guardrail.value.data(), guardrail.value.size() * sizeof(float), hash);
  return hash;
}

// --- Writing

json ids_json(const data::Ids& ids) {
  if (ids.numbers() != nullptr) return {{"kind", ids.are_row_numbers() ? "some rows" : "numbers"}};
  if (ids.unsigned_numbers() != nullptr) return {{"kind", "unsigned"}};
  if (ids.texts() != nullptr) return {{"kind", "texts"}};
  return {{"kind", "rows"}, {"first", ids.size() == 0 ? 1 : ids.number(0)}};
}

std::string header_text(const data::Trial& trial, std::uint64_t key) {
  json features = json::array();
  for (const data::FeatureColumn& column : trial.features.columns)
    features.push_back({{"name", column.name}, {"categorical", column.categorical}, {"levels", column.levels}});
  json guardrails = json::array();
  for (const data::Guardrail& guardrail : trial.guardrails) guardrails.push_back(guardrail.name);
  const json header = {{"magic", kMagic},
                       {"version", kCacheVersion},
                       {"key", hex(key)},
                       {"units", trial.num_units()},
                       {"arms", trial.arms.labels},
                       {"control", trial.arms.control},
                       {"ordered", trial.arms.ordered},
                       {"cost_kind", data::to_text(trial.cost_facts.kind)},
                       {"cost_per_arm", trial.cost_facts.per_arm},
                       {"features", std::move(features)},
                       {"has_propensity", !trial.propensity.empty()},
                       {"has_weight", !trial.weight.empty()},
                       {"guardrails", std::move(guardrails)},
                       {"clusters", trial.num_clusters},
                       {"times", trial.times},
                       {"ids", ids_json(trial.ids)},
                       {"fingerprint", hex(trial.fingerprint)},
                       {"rest", hex(hash_of_rest(trial))},
                       {"notes", trial.notes}};
  try {
    const std::string text = header.dump();
    return hex(core::hash_text(text)) + "\n" + text;
  } catch (const json::exception&) {
    throw core::data_error("an arm, a time or a category", "text that is not UTF-8", "", "UTF-8",
                           "save the trial as UTF-8");
  }
}

template <class T>
void write_column(const std::string& path, const core::Column<T>& values) {
  core::Column<T> file(core::Memory::new_file(path));
  file.reserve(values.size());
  file.append(values.begin(), values.end());
}

void write_ids(const std::string& folder, const data::Ids& ids) {
  if (ids.numbers() != nullptr) write_column(folder + "/ids", *ids.numbers());
  if (ids.unsigned_numbers() != nullptr) write_column(folder + "/ids", *ids.unsigned_numbers());
  if (ids.texts() == nullptr) return;
  write_column(folder + "/ids", ids.texts()->ends());
  write_column(folder + "/id_bytes", ids.texts()->bytes());
}

constexpr const char* kMakingEnding = ".part";

// trial-KEY.RANDOM.part, each of sixteen hexadecimal digits: no name that users give.
bool is_name_of_making(std::string_view name) {
  constexpr std::string_view kStart = "trial-";
  constexpr std::size_t kDigits = 16;
  const auto are_digits = [](std::string_view text) {
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  };
  if (name.size() != kStart.size() + 2 * kDigits + 1 + std::strlen(kMakingEnding)) return false;
  return name.starts_with(kStart) && name.ends_with(kMakingEnding) && name[kStart.size() + kDigits] == '.' &&
         are_digits(name.substr(kStart.size(), kDigits)) &&
         are_digits(name.substr(kStart.size() + kDigits + 1, kDigits));
}

// Folders that runs were making when they were killed. Whoever makes one holds its lock (Making), so one whose lock can
// be acquired belongs to nobody.
void remove_dead(const fs::path& cache_folder) {
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(cache_folder, code)) {
    const std::string name = entry.path().filename();
    if (!is_name_of_making(name)) continue;
    const core::Descriptor folder = core::open_file(entry.path(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (folder && ::flock(folder.number(), LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry.path(), code);
  }
}

// A folder for a cache in the making, gone with the object unless it was given its name. Two runs have two of them.
class Making {
 public:
  explicit Making(std::string path) : path_(std::move(path)) {
    std::error_code code;
    fs::create_directories(fs::path(path_).parent_path(), code);
    if (!code) remove_dead(fs::path(path_).parent_path());
    while (!code && folder_.empty()) {
      const std::string name = fmt::format("{}.{}{}", path_, core::random_name(), kMakingEnding);
      if (!fs::create_directory(name, code)) continue;
      lock_ = core::open_file(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      if (!lock_ && errno != ENOENT) {
        code = std::error_code(errno, std::generic_category());
        std::error_code ignored;
        fs::remove(name, ignored);
        break;
      }
      // Another run may have taken it for a dead one before it was locked.
      const bool is_ours = lock_ && ::flock(lock_.number(), LOCK_EX | LOCK_NB) == 0 && fs::exists(name, code);
      if (is_ours || (lock_ && errno != EWOULDBLOCK && fs::exists(name, code))) folder_ = name;
    }
    if (code)
      throw core::Error({.kind = core::ErrorKind::file,
                         .what = "cannot make the folder of the cache",
                         .where = path_,
                         .found = code.message()});
  }
  ~Making() {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;

  const std::string& folder() const { return folder_; }
  void give_name() {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
      const core::Descriptor file = core::open_file(entry.path(), O_RDONLY | O_NOFOLLOW);
      if (!file || core::sync_file(file.number()) != 0) throw core::file_error(entry.path(), "cannot write", errno);
    }
    core::sync_folder(folder_);
    if (core::rename_file(folder_, path_) == 0) {
      folder_.clear();
      core::sync_folder(fs::path(path_).parent_path());
    } else if (const int reason = errno; !fs::exists(path_)) {  // else another run was faster, with the same contents
      throw core::file_error(path_, "cannot name the cache", reason);
    }
  }

 private:
  std::string path_;
  std::string folder_;
  core::Descriptor lock_;
};

// --- Reading

class CacheReader {
 public:
  CacheReader(std::string path, std::uint64_t key, core::RunContext& context)
      : path_(std::move(path)), key_(key), context_(context) {}

  data::Trial read() {
    try {
      read_header();
      read_meaning();
    } catch (const json::exception&) {
      throw damaged(path_, "a header that says something else than it should");
    }
    map_columns();
    map_ids();
    check_codes();
    require(data::fingerprint_of(trial_, context_) == trial_.fingerprint && hash_of_rest(trial_) == rest_hash_,
            "its contents are not those that were written");
    return std::move(trial_);
  }

 private:
  void require(bool good, const char* what) const {
    if (!good) throw damaged(path_, what);
  }

  void read_header() {
    const std::string text = read_text_file(path_ + "/header", kMostHeaderBytes);
    const std::size_t line = text.find('\n');
    require(line == 16, "no checksum");
    const std::string body = text.substr(line + 1);
    require(text.substr(0, line) == hex(core::hash_text(body)), "the checksum of its header does not agree");
    header_ = json::parse(body);
    require(header_.at("magic") == kMagic && header_.at("version") == kCacheVersion, "another kind of file");
    require(header_.at("key") == hex(key_), "it is of another input");
  }

  void read_meaning() {
    num_units_ = header_.at("units").get<std::uint64_t>();
    require(num_units_ > 0 && num_units_ <= std::numeric_limits<std::uint32_t>::max(), "number of units");
    trial_.arms.labels = header_.at("arms").get<std::vector<std::string>>();
    trial_.arms.control = header_.at("control").get<std::size_t>();
    trial_.arms.ordered = header_.at("ordered").get<bool>();
    require(
        trial_.arms.size() >= 2 && trial_.arms.size() <= data::kMostArms && trial_.arms.control < trial_.arms.size(),
        "arms");
    read_cost_facts();
    for (const json& column : header_.at("features")) {
      trial_.features.columns.push_back({column.at("name").get<std::string>(), column.at("categorical").get<bool>(),
                                         column.at("levels").get<std::vector<std::string>>()});
    }
    require(!trial_.features.columns.empty() && trial_.features.columns.size() <= kMostFeatures, "features");
    has_propensity_ = header_.at("has_propensity").get<bool>();
    has_weight_ = header_.at("has_weight").get<bool>();
    for (const auto& name : header_.at("guardrails").get<std::vector<std::string>>())
      trial_.guardrails.push_back({name, {}});
    require(trial_.guardrails.size() <= kMostFeatures, "guardrails");
    trial_.num_clusters = header_.at("clusters").get<std::size_t>();
    require(trial_.num_clusters <= num_units_, "clusters");
    trial_.times = header_.at("times").get<std::vector<std::string>>();
    trial_.notes = header_.at("notes").get<std::vector<std::string>>();
    trial_.fingerprint = number_of("fingerprint");
    rest_hash_ = number_of("rest");
    ids_kind_ = header_.at("ids").at("kind").get<std::string>();
    if (ids_kind_ == "rows") {
      const auto first = header_.at("ids").at("first").get<std::uint64_t>();
      trial_.ids = data::RowNumbers{first, num_units_};
    }
  }

  void read_cost_facts() {
    const auto kind = header_.at("cost_kind").get<std::string>();
    data::CostFacts& facts = trial_.cost_facts;
    for (const auto known :
         {data::CostKind::price, data::CostKind::rate, data::CostKind::price_if, data::CostKind::observed}) {
      facts.kind = known;
      if (kind == data::to_text(known)) break;
    }
    facts.per_arm = header_.at("cost_per_arm").get<std::vector<double>>();
    require(kind == data::to_text(facts.kind) && facts.per_arm.size() == (facts.is_known() ? trial_.arms.size() : 0),
            "costs");
  }

  std::uint64_t number_of(const char* name) const {
    const auto text = header_.at(name).get<std::string>();
    std::uint64_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number, 16);
    require(parsed.ec == std::errc() && parsed.ptr == text.data() + text.size(), name);
    return number;
  }

  template <class T>
  void map(const char* name, bool is_there, core::Column<T>& column) const {
    if (is_there) column = core::Column<T>(core::Memory::of_file(path_ + "/" + name, num_units_ * sizeof(T)));
  }

  void map_columns() {
    const std::size_t num_features = trial_.features.num_features();
    trial_.features.values =
        core::Matrix<float>(core::Memory::of_file(path_ + "/features", num_units_ * num_features * sizeof(float)),
                            num_units_, num_features);
    map("arm", true, trial_.arm);
    map("revenue", true, trial_.revenue);
    map("cost", true, trial_.cost);
    map("split", true, trial_.split);
    map("propensity", has_propensity_, trial_.propensity);
    map("weight", has_weight_, trial_.weight);
    for (std::size_t i = 0; i < trial_.guardrails.size(); ++i)
      map(fmt::format("guardrail_{}", i).c_str(), true, trial_.guardrails[i].value);
    map("cluster", trial_.num_clusters > 0, trial_.cluster);
    if (trial_.has_clusters())
      trial_.cluster_key = core::Column<std::uint64_t>(
          core::Memory::of_file(path_ + "/cluster_key", trial_.num_clusters * sizeof(std::uint64_t)));
    map("time", trial_.has_time(), trial_.time);
  }

  void map_ids() {
    if (ids_kind_ == "rows") return;
    if (ids_kind_ == "numbers" || ids_kind_ == "some rows") {
      core::Column<std::int64_t> numbers;
      map("ids", true, numbers);
      trial_.ids = ids_kind_ == "numbers" ? data::Ids(std::move(numbers)) : data::Ids::of_rows(std::move(numbers));
      return;
    }
    if (ids_kind_ == "unsigned") {
      core::Column<std::uint64_t> numbers;
      map("ids", true, numbers);
      trial_.ids = std::move(numbers);
      return;
    }
    require(ids_kind_ == "texts", "kind of ids");
    core::Column<std::uint64_t> ends;
    map("ids", true, ends);
    require(std::is_sorted(ends.begin(), ends.end()), "ids");
    core::Column<char> bytes;
    if (ends.back() > 0) bytes = core::Column<char>(core::Memory::of_file(path_ + "/id_bytes", ends.back()));
    trial_.ids = data::TextColumn(std::move(bytes), std::move(ends));
  }

  // Codes that would reach beyond a table. Numbers may be anything a file may hold.
  void check_codes() const {
    const auto below = [](const auto& column, std::size_t limit) {
      return std::all_of(column.begin(), column.end(),
                         [limit](auto code) { return static_cast<std::size_t>(code) < limit; });
    };
    require(below(trial_.arm, trial_.arms.size()), "a unit in an arm that is not there");
    require(below(trial_.split, 3), "a unit in no split");
    require(below(trial_.time, trial_.times.size()), "a unit at a time that is not there");
    require(below(trial_.cluster, trial_.num_clusters), "a unit in a cluster that is not there");
    for (const core::Column<float>* column : {&trial_.revenue, &trial_.cost}) {
      require(std::all_of(column->begin(), column->end(), [](float value) { return std::isfinite(value); }),
              "an outcome that is no number");
    }
    require(std::all_of(trial_.weight.begin(), trial_.weight.end(),
                        [](float value) { return std::isfinite(value) && value > 0.0f; }),
            "a sample weight that is none");
    for (const data::Guardrail& guardrail : trial_.guardrails) {
      require(
          std::all_of(guardrail.value.begin(), guardrail.value.end(), [](float value) { return std::isfinite(value); }),
          "a guardrail that is no number");
    }
  }

  std::string path_;
  std::uint64_t key_;
  core::RunContext& context_;
  json header_;
  std::size_t num_units_ = 0;
  bool has_propensity_ = false;
  bool has_weight_ = false;
  std::string ids_kind_;
  std::uint64_t rest_hash_ = 0;
  data::Trial trial_;
};

}  // namespace

std::uint64_t trial_cache_key(const data::Study& study, const std::vector<std::string>& files) {
  data::Study reading;  // what matters for reading, and nothing else
  reading.columns = study.columns;
  reading.arms = study.arms;
  reading.split = study.split;
  std::uint64_t key = core::hash_text(study_text(reading), core::hash_text(core::version(), kCacheVersion));
  for (const std::string& file : files) {
    struct stat status = {};
    if (::stat(file.c_str(), &status) != 0)
      throw core::Error({.kind = core::ErrorKind::file, .what = "cannot open", .where = file});
    const std::int64_t numbers[] = {status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
    key = core::hash_bytes(numbers, sizeof(numbers), core::hash_text(fs::absolute(file).string(), key));
  }
  return key;
}

data::Trial cached_trial(const std::string& cache_folder, std::uint64_t key, const ReadInto& read,
                         core::RunContext& context) {
  const std::string path = path_of(cache_folder, key);
  if (!fs::exists(path)) {
    Making making(path);
    const data::Trial trial = read(making.folder());
    write_ids(making.folder(), trial.ids);
    write_text_file(making.folder() + "/header", header_text(trial, key));
    making.give_name();
  }
  return CacheReader(path, key, context).read();
}

}  // namespace dfcl::io
