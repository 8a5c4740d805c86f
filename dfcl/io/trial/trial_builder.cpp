// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/trial/trial_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/parallel.h"
#include "dfcl/core/suggest.h"
#include "dfcl/data/id_hashes.h"
#include "dfcl/data/splits.h"

namespace dfcl::io {
namespace {

constexpr std::size_t kLeastUnitsPerArm = 30;
constexpr std::size_t kMostLevels = 100'000;
constexpr double kMostWithoutOutcome = 0.01;

template <class T>
void extend(core::Column<T>& all, const std::vector<T>& more) {
  all.append(more.begin(), more.end());
}

std::optional<double> as_number(const std::string& text) {
  double number = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

// The order of labels: as numbers if all are, else as text. Returns the labels' codes in that order.
std::vector<std::uint32_t> sorted_codes(const std::vector<std::string>& labels) {
  std::vector<std::uint32_t> codes(labels.size());
  std::iota(codes.begin(), codes.end(), 0u);
  const bool numbers = std::all_of(labels.begin(), labels.end(), [](const auto& label) { return as_number(label); });
  std::sort(codes.begin(), codes.end(), [&](std::uint32_t a, std::uint32_t b) {
    const double x = numbers ? *as_number(labels[a]) : 0.0;
    const double y = numbers ? *as_number(labels[b]) : 0.0;
    return x != y ? x < y : labels[a] < labels[b];  // 1 and 1.0 are two labels
  });
  return codes;
}

}  // namespace

std::uint32_t LabelTable::code(const std::string& label) {
  const auto [entry, is_new] = codes_.try_emplace(label, static_cast<std::uint32_t>(labels_.size()));
  if (is_new) labels_.push_back(label);
  return entry->second;
}

TrialBuilder::TrialBuilder(const data::Study& study, TrialPlan plan, const std::string& folder,
                           const std::string& scratch_folder, std::size_t num_files, bool is_part)
    : study_(study),
      plan_(std::move(plan)),
      is_part_(is_part),
      cluster_hash_(core::Memory::scratch(scratch_folder)),
      unit_hash_(core::Memory::scratch(scratch_folder)) {
  const auto memory = [&](const char* column) {
    if (!folder.empty()) return core::Memory::new_file(folder + "/" + column);
    if (!scratch_folder.empty()) return core::Memory::scratch(scratch_folder);
    return num_files == 1 ? core::Memory() : core::Memory::that_grows();
  };
  trial_.features.columns = plan_.features;
  trial_.features.values = core::Matrix<float>(memory("features"), 0, plan_.features.size());
  trial_.arm = core::Column<std::uint8_t>(memory("arm"));
  trial_.revenue = core::Column<float>(memory("revenue"));
  trial_.cost = core::Column<float>(memory("cost"));
  trial_.propensity = core::Column<float>(memory("propensity"));
  trial_.weight = core::Column<float>(memory("weight"));
  for (std::size_t i = 0; i < plan_.guardrails.size(); ++i) {
    const std::string& name = plan_.wanted[static_cast<std::size_t>(plan_.guardrails[i])].name;
    trial_.guardrails.push_back({name, core::Column<float>(memory(fmt::format("guardrail_{}", i).c_str()))});
  }
  trial_.cluster = core::Column<std::uint32_t>(memory("cluster"));
  trial_.cluster_key = core::Column<std::uint64_t>(memory("cluster_key"));
  trial_.time = core::Column<std::uint32_t>(memory("time"));
  trial_.split = core::Column<data::Split>(memory("split"));
  trial_.ids = data::Ids::in_folder(scratch_folder);
  levels_.resize(plan_.features.size());
  for (const std::string& label : study.arms.order) arms_.code(label);
  if (arms_.labels().size() > data::kMostArms)
    throw core::field_error("arms.order", "too many arms", fmt::format("{}", arms_.labels().size()),
                            fmt::format("at most {}", data::kMostArms));
}

core::MatrixView<float> TrialBuilder::make_room(std::size_t num_rows) {
  core::Matrix<float>& all = trial_.features.values;
  const std::size_t first = all.rows();
  all.resize(first + num_rows);
  const core::MatrixView<float> room = all.view().slice(first, num_rows);
  all.resize(first);
  if (first == 0) {  // files that follow grow the columns by quarters
    trial_.arm.reserve(num_rows);
    trial_.revenue.reserve(num_rows);
    trial_.cost.reserve(num_rows);
  }
  return room;
}

void TrialBuilder::append(TrialTile tile, const std::function<std::string(std::int64_t)>& locate) {
  append_arms(tile, locate);
  append_splits(tile, locate);
  append_features(tile);
  append_ids(tile);
  extend(trial_.revenue, tile.revenue);
  extend(trial_.cost, tile.cost);
  extend(trial_.propensity, tile.propensity);
  extend(trial_.weight, tile.weight);
  for (std::size_t i = 0; i < tile.guardrails.size(); ++i) extend(trial_.guardrails[i].value, tile.guardrails[i]);
  extend(cluster_hash_, tile.cluster_hash);
  extend(unit_hash_, tile.unit_hash);
  std::vector<std::uint32_t> code_of_time;
  for (const std::string& label : tile.time.labels) code_of_time.push_back(times_.code(label));
  for (const std::uint32_t code : tile.time.codes) trial_.time.push_back(code_of_time[code]);
  rows_seen_ += static_cast<std::int64_t>(tile.num_rows) + tile.rows_without_outcome + tile.rows_of_no_weight;
  rows_without_outcome_ += tile.rows_without_outcome;
  rows_of_no_weight_ += tile.rows_of_no_weight;
}

void TrialBuilder::append_arms(const TrialTile& tile, const std::function<std::string(std::int64_t)>& locate) {
  const std::vector<std::string>& order = study_.arms.order;
  std::vector<std::uint8_t> code_of_label;
  for (std::size_t label = 0; label < tile.arm.labels.size(); ++label) {
    const std::string& name = tile.arm.labels[label];
    const auto where = [&] {
      return fmt::format("{}, column '{}'", locate(tile.arm.first_row[label]), study_.columns.arm);
    };
    if (!order.empty() && std::find(order.begin(), order.end(), name) == order.end()) {
      throw core::data_error(where(), "an arm that [arms] order does not name", fmt::format("'{}'", name),
                             fmt::format("one of {}", fmt::join(order, ", ")), core::suggest(name, order));
    }
    const std::uint32_t code = arms_.code(name);
    if (code >= data::kMostArms) {
      throw core::data_error(where(), "too many arms", fmt::format("the {}th, '{}'", code + 1, name),
                             fmt::format("at most {} arms", data::kMostArms),
                             fmt::format("is '{}' really the arm?", study_.columns.arm));
    }
    code_of_label.push_back(static_cast<std::uint8_t>(code));
  }
  for (const std::uint32_t code : tile.arm.codes) trial_.arm.push_back(code_of_label[code]);
}

void TrialBuilder::append_splits(const TrialTile& tile, const std::function<std::string(std::int64_t)>& locate) {
  std::vector<data::Split> split_of_label;
  for (std::size_t label = 0; label < tile.split.labels.size(); ++label) {
    const std::string& name = tile.split.labels[label];
    bool known = false;
    for (const data::Split split : {data::Split::train, data::Split::validation, data::Split::test}) {
      if (name != data::to_text(split)) continue;
      split_of_label.push_back(split);
      known = true;
    }
    if (!known) {
      throw core::data_error(fmt::format("{}, column '{}'", locate(tile.split.first_row[label]), study_.split.by),
                             "an unknown split", fmt::format("'{}'", name), "train, validation or test", "");
    }
  }
  for (const std::uint32_t code : tile.split.codes) trial_.split.push_back(split_of_label[code]);
}

void TrialBuilder::append_features(TrialTile& tile) {
  core::Matrix<float>& all = trial_.features.values;
  const std::size_t first = all.rows();
  const std::size_t num_features = plan_.features.size();
  all.resize(first + tile.num_rows);
  // A tile in its place lies there already, or behind rows that were left out.
  const std::size_t bytes = tile.num_rows * num_features * sizeof(float);
  if (bytes > 0 && tile.features.data != all.row(first).data())
    std::memmove(all.row(first).data(), tile.features.data, bytes);
  for (std::size_t feature = 0; feature < num_features; ++feature) {
    if (!plan_.features[feature].categorical) continue;
    std::vector<float> code_of_label;
    for (const std::string& label : tile.categories[feature].labels) {
      code_of_label.push_back(static_cast<float>(levels_[feature].code(label)));
    }
    if (levels_[feature].labels().size() > kMostLevels) {
      throw core::data_error(fmt::format("column '{}'", plan_.features[feature].name), "too many different texts",
                             fmt::format("more than {}", kMostLevels), "categories",
                             "add it to [columns] exclude, or name it as the id");
    }
    for (std::size_t row = first; row < all.rows(); ++row) {
      float& value = all(row, feature);
      if (!std::isnan(value)) value = code_of_label[static_cast<std::size_t>(value)];
    }
  }
}

void TrialBuilder::append_ids(TrialTile& tile) {
  if (plan_.id >= 0) {
    trial_.ids.append(tile.ids);
    return;
  }
  // Without an id column a unit is its row in the file, counted from 1, whatever was left out.
  const auto first = static_cast<std::size_t>(rows_seen_ + 1);
  if (tile.rows_without_outcome + tile.rows_of_no_weight == 0) {
    trial_.ids.append(data::RowNumbers{first, tile.num_rows});
    return;
  }
  std::vector<std::int64_t> numbers;
  for (const std::int64_t row : tile.kept_rows) numbers.push_back(static_cast<std::int64_t>(first) + row);
  trial_.ids.append(data::Ids::of_rows(numbers));
}

data::Trial TrialBuilder::finish(core::RunContext& context) {
  if (!is_part_) check_rows();
  trial_.features.values.shrink_to_fit();
  settle_arms();
  settle_times();
  settle_clusters();
  settle_splits(context);
  settle_levels(context);
  settle_outcomes();
  settle_weights();
  trial_.arm.shrink_to_fit();
  trial_.revenue.shrink_to_fit();
  trial_.cost.shrink_to_fit();
  trial_.propensity.shrink_to_fit();
  trial_.weight.shrink_to_fit();
  for (data::Guardrail& guardrail : trial_.guardrails) guardrail.value.shrink_to_fit();
  trial_.cluster.shrink_to_fit();
  trial_.cluster_key.shrink_to_fit();
  trial_.time.shrink_to_fit();
  trial_.split.shrink_to_fit();
  trial_.fingerprint = data::fingerprint_of(trial_, context);
  return std::move(trial_);
}

void TrialBuilder::check_rows() const {
  if (rows_seen_ == 0)
    throw core::data_error(study_.data.trial.value_or(""), "no rows", "a header only", "one row a unit", "");
  if (rows_of_no_weight_ == rows_seen_)
    throw core::data_error(fmt::format("column '{}'", study_.columns.weight.value_or("")), "no row has a weight",
                           "0 in every row", "sample weights, some of them above 0", "");
  const double share = static_cast<double>(rows_without_outcome_) / static_cast<double>(rows_seen_);
  if (share > kMostWithoutOutcome) {
    throw core::data_error(
        study_.data.trial.value_or(""), "rows without an outcome",
        fmt::format("{} of {} rows ({:.1f} %)", rows_without_outcome_, rows_seen_, 100.0 * share),
        "a revenue and a cost for every unit",
        "leaving out units by their outcome breaks the randomisation; fill in what is known, for example 0");
  }
}

// Puts the arms into their order and counts them.
void TrialBuilder::settle_arms() {
  const std::vector<std::string>& found = arms_.labels();
  const data::Study::Arms& declared = study_.arms;
  std::vector<std::uint32_t> order = sorted_codes(found);
  if (!declared.order.empty()) std::iota(order.begin(), order.end(), 0u);

  std::string control = declared.control.value_or("");
  if (control.empty() && !declared.order.empty()) control = declared.order.front();
  if (control.empty()) {
    if (const auto arm = data::find_control(found)) control = found[*arm];
  }
  const auto is_control = [&](std::uint32_t code) { return found[code] == control; };
  if (std::none_of(order.begin(), order.end(), is_control)) {
    throw core::data_error(
        fmt::format("column '{}'", study_.columns.arm), "no control arm",
        control.empty() ? fmt::format("arms {}", fmt::join(found, ", ")) : fmt::format("no unit in arm '{}'", control),
        "[arms] control to name one of the arms", control.empty() ? "" : core::suggest(control, found));
  }
  if (declared.order.empty()) std::stable_partition(order.begin(), order.end(), is_control);
  if (found.size() < 2) {
    throw core::data_error(fmt::format("column '{}'", study_.columns.arm), "one arm only",
                           fmt::format("'{}' in every row", found.front()), "at least two arms",
                           "without units that got something else, nothing can be learned");
  }

  std::vector<std::uint8_t> position(found.size());
  std::vector<std::size_t> units(found.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    position[order[place]] = static_cast<std::uint8_t>(place);
    trial_.arms.labels.push_back(found[order[place]]);
  }
  for (std::uint8_t& arm : trial_.arm) ++units[arm = position[arm]];
  trial_.arms.ordered = !declared.order.empty();
  for (std::size_t arm = 0; arm < units.size(); ++arm) {
    const std::string& label = trial_.arms.labels[arm];
    if (label == control) trial_.arms.control = arm;
    if (!is_part_ && units[arm] < kLeastUnitsPerArm) {
      throw core::data_error(fmt::format("column '{}'", study_.columns.arm),
                             fmt::format("too few units in arm '{}'", label), fmt::format("{}", units[arm]),
                             fmt::format("at least {}", kLeastUnitsPerArm),
                             "drop the arm's rows and take it out of [arms] order");
    }
  }
}

void TrialBuilder::settle_times() {
  const std::vector<std::uint32_t> order = sorted_codes(times_.labels());
  std::vector<std::uint32_t> position(order.size());
  for (std::uint32_t place = 0; place < order.size(); ++place) {
    position[order[place]] = place;
    trial_.times.push_back(times_.labels()[order[place]]);
  }
  for (std::uint32_t& time : trial_.time) time = position[time];
}

// Clusters are numbered in the order of their hashes, which does not depend on the order of the rows.
void TrialBuilder::settle_clusters() {
  if (cluster_hash_.empty()) return;
  core::Column<std::uint64_t> distinct = cluster_hash_;
  std::sort(distinct.begin(), distinct.end());
  distinct.resize(static_cast<std::size_t>(std::unique(distinct.begin(), distinct.end()) - distinct.begin()));
  if (plan_.comes_again() && distinct.size() == cluster_hash_.size()) return;  // none did
  trial_.num_clusters = distinct.size();
  trial_.cluster.reserve(cluster_hash_.size());
  for (const std::uint64_t hash : cluster_hash_) {
    const auto place = std::lower_bound(distinct.begin(), distinct.end(), hash);
    trial_.cluster.push_back(static_cast<std::uint32_t>(place - distinct.begin()));
  }
  trial_.cluster_key.append(distinct.begin(), distinct.end());
  cluster_hash_ = {};
}

void TrialBuilder::settle_splits(core::RunContext& context) {
  if (plan_.split >= 0) return;
  if (study_.split.by == "time") {
    if (!trial_.has_time()) {
      throw core::Error({.kind = core::ErrorKind::usage,
                         .what = "a split by time needs [columns] time",
                         .where = "study, [split] by"});
    }
    const std::vector<data::Split> splits = data::splits_of_times(trial_.times.size(), study_.split);
    for (const std::uint32_t time : trial_.time) trial_.split.push_back(splits[time]);
    return;
  }
  const std::uint64_t seed = data::split_seed(study_.split);
  trial_.split.resize(trial_.num_units());
  core::for_each_chunk(context, trial_.num_units(), 16'384, [&](std::size_t begin, std::size_t end, std::size_t) {
    std::vector<std::uint64_t> hashes;
    if (unit_hash_.empty()) {
      hashes.resize(end - begin);
      data::fill_hashes(trial_.ids, begin, hashes, seed);
    }
    for (std::size_t unit = begin; unit < end; ++unit) {
      const std::uint64_t hash = unit_hash_.empty() ? hashes[unit - begin] : unit_hash_[unit];
      trial_.split[unit] = data::split_of_hash(hash, study_.split);
    }
  });
  unit_hash_ = {};
}

// Levels that are rare among the training units are pooled under code 0; the others are coded in alphabetical order.
void TrialBuilder::settle_levels(core::RunContext& context) {
  core::Matrix<float>& values = trial_.features.values;
  constexpr std::size_t kRows = 65536;
  for (std::size_t feature = 0; feature < plan_.features.size(); ++feature) {
    if (!plan_.features[feature].categorical) continue;
    const std::vector<std::string>& labels = levels_[feature].labels();
    std::vector<std::int64_t> training_units(labels.size());
    for (std::size_t unit = 0; unit < values.rows(); ++unit) {
      const float code = values(unit, feature);
      if (!std::isnan(code) && trial_.split[unit] == data::Split::train)
        ++training_units[static_cast<std::size_t>(code)];
    }
    std::vector<float> new_code(labels.size(), 0.0f);
    std::vector<std::string>& levels = trial_.features.columns[feature].levels;
    levels = {data::kPooledLevel};
    std::vector<std::uint32_t> order(labels.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return labels[a] < labels[b]; });
    for (const std::uint32_t code : order) {
      if (training_units[code] < study_.columns.min_level_units) continue;
      new_code[code] = static_cast<float>(levels.size());
      levels.push_back(labels[code]);
    }
    core::for_each_chunk(context, values.rows(), kRows, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t unit = begin; unit < end; ++unit) {
        float& value = values(unit, feature);
        if (!std::isnan(value)) value = new_code[static_cast<std::size_t>(value)];
      }
    });
    const std::size_t pooled = labels.size() + 1 - levels.size();
    if (pooled > 0) {
      trial_.notes.push_back(fmt::format("{}: {} of {} levels have fewer than {} training units and are pooled",
                                         plan_.features[feature].name, pooled, labels.size(),
                                         study_.columns.min_level_units));
    }
  }
}

}  // namespace dfcl::io
