// SPDX-License-Identifier: Apache-2.0
#include "dfcl/simulate/simulator.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "dfcl/core/hash.h"
#include "dfcl/core/random.h"

namespace dfcl::simulate {
namespace {

using data::ColumnType;

constexpr std::uint32_t kArmPurpose = core::stream_purpose("simulate arm");

// The broken randomisation moves probability from control to the last arm: a point for everybody, and two points more
// for each standard deviation of a feature.
constexpr double kShareShift = 0.01;
constexpr double kLeanShift = 0.02;
constexpr double kMaxLean = 2.0;

std::unique_ptr<UnitModel> make_model(const SimulatorOptions& options) {
  validate(options);
  switch (options.preset) {
    case Preset::marketing: return make_marketing(options);
    case Preset::criteo: return make_criteo(options);
    case Preset::varied: return make_varied(options);
  }
  return nullptr;
}

std::uint8_t pick_arm(std::span<const double> shares, double fraction) {
  std::uint8_t arm = 0;
  while (arm + 1u < shares.size() && fraction >= shares[arm]) fraction -= shares[arm++];
  return arm;
}

data::ColumnValues outcome_column(ColumnType type, std::vector<double> values) {
  if (type == ColumnType::int64) return std::vector<std::int64_t>(values.begin(), values.end());
  return values;
}

}  // namespace

std::uint64_t outcome_seed(const SimulatorOptions& options) {
  return options.outcome_seed == 0 ? options.seed : core::combine_hashes(options.seed, options.outcome_seed);
}

Simulator::Simulator(SimulatorOptions options)
    : options_(std::move(options)),
      arms_(arm_labels(options_)),
      shares_(arm_shares(options_)),
      model_(make_model(options_)),
      roles_(model_->roles()) {
  truth_columns_.push_back({"id", ColumnType::int64});
  if (!roles_.id.empty()) trial_columns_.push_back({roles_.id, ColumnType::int64});
  if (options_.num_days > 0) {
    trial_columns_.push_back({"day", ColumnType::int64});
    truth_columns_.push_back({"day", ColumnType::int64});
  }
  const std::vector<data::ColumnInfo>& features = model_->feature_columns();
  trial_columns_.insert(trial_columns_.end(), features.begin(), features.end());
  trial_columns_.push_back({roles_.arm, ColumnType::int64});
  trial_columns_.push_back({roles_.revenue, roles_.outcome_type});
  trial_columns_.push_back({roles_.cost, roles_.outcome_type});
  for (const char* outcome : {"revenue_", "cost_"}) {
    for (const std::string& arm : arms_) truth_columns_.push_back({outcome + arm, ColumnType::float32});
  }
}

std::vector<UnitKey> Simulator::keys_of(std::uint64_t first_row, std::size_t num_rows) const {
  assert(first_row + num_rows <= options_.num_rows);
  const std::uint64_t units = num_units();
  std::vector<UnitKey> keys(num_rows);
  for (std::size_t i = 0; i < num_rows; ++i) {
    const std::uint64_t row = first_row + i;
    keys[i] = {.unit = row % units, .day = options_.first_day + row / units};
  }
  return keys;
}

std::vector<std::uint8_t> Simulator::assign(std::span<const UnitKey> keys, std::span<const double> lean) const {
  std::vector<std::uint8_t> arms(keys.size());
  std::vector<double> shares = shares_;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (options_.imbalance) {
      const double moved = kShareShift + kLeanShift * std::clamp(lean[i], -kMaxLean, kMaxLean);
      const double possible = std::clamp(moved, -shares_.back(), shares_.front());
      shares.front() = shares_.front() - possible;
      shares.back() = shares_.back() + possible;
    }
    arms[i] = pick_arm(shares, core::RandomStream(options_.seed, kArmPurpose, keys[i].row_index()).uniform());
  }
  return arms;
}

data::Batch Simulator::trial_batch(std::span<const UnitKey> keys, UnitBlock& block) const {
  const std::vector<std::uint8_t> arms = assign(keys, block.lean);
  std::vector<double> revenue(keys.size());
  std::vector<double> cost(keys.size());
  model_->draw_outcomes(keys, block, arms, revenue, cost);

  data::Batch batch{.num_rows = keys.size(), .columns = {}};
  batch.columns.reserve(trial_columns_.size());
  std::vector<std::int64_t> numbers(keys.size());
  const auto add_numbers = [&](auto&& number_of) {
    std::transform(keys.begin(), keys.end(), numbers.begin(), number_of);
    batch.columns.emplace_back(numbers);
  };
  if (!roles_.id.empty()) add_numbers([](const UnitKey& key) { return static_cast<std::int64_t>(key.unit) + 1; });
  if (options_.num_days > 0) add_numbers([](const UnitKey& key) { return static_cast<std::int64_t>(key.day) + 1; });
  for (data::ColumnValues& feature : block.features) batch.columns.push_back(std::move(feature));
  std::transform(arms.begin(), arms.end(), numbers.begin(), [&](std::uint8_t arm) { return std::stoll(arms_[arm]); });
  batch.columns.emplace_back(std::move(numbers));
  batch.columns.push_back(outcome_column(roles_.outcome_type, std::move(revenue)));
  batch.columns.push_back(outcome_column(roles_.outcome_type, std::move(cost)));
  return batch;
}

data::Batch Simulator::truth_batch(std::span<const UnitKey> keys, const UnitBlock& block,
                                   std::uint64_t first_row) const {
  data::Batch batch{.num_rows = keys.size(), .columns = {}};
  batch.columns.reserve(truth_columns_.size());
  std::vector<std::int64_t> ids(keys.size());
  std::vector<std::int64_t> days(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    // The id of the trial's row: its id column, else the row number from 1.
    ids[i] = static_cast<std::int64_t>(roles_.id.empty() ? first_row + i : keys[i].unit) + 1;
    days[i] = static_cast<std::int64_t>(keys[i].day) + 1;
  }
  batch.columns.emplace_back(std::move(ids));
  if (options_.num_days > 0) batch.columns.emplace_back(std::move(days));
  for (const core::Matrix<double>* expected : {&block.revenue, &block.cost}) {
    for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
      std::vector<float> values(keys.size());
      for (std::size_t i = 0; i < keys.size(); ++i) values[i] = static_cast<float>((*expected)(i, arm));
      batch.columns.emplace_back(std::move(values));
    }
  }
  return batch;
}

SimulatedRows Simulator::make_rows(std::uint64_t first_row, std::size_t num_rows) const {
  const std::vector<UnitKey> keys = keys_of(first_row, num_rows);
  UnitBlock block = model_->make_units(keys, true);
  SimulatedRows rows;
  rows.truth = truth_batch(keys, block, first_row);
  rows.trial = trial_batch(keys, block);
  return rows;
}

ExpectedOutcomes Simulator::expected_outcomes(std::uint64_t first_row, std::size_t num_rows) const {
  UnitBlock block = model_->make_units(keys_of(first_row, num_rows), false);
  return {.revenue = std::move(block.revenue), .cost = std::move(block.cost)};
}

std::vector<std::uint8_t> Simulator::drawn_arms(std::uint64_t first_row, std::size_t num_rows) const {
  const std::vector<UnitKey> keys = keys_of(first_row, num_rows);
  if (!options_.imbalance) return assign(keys, {});
  return assign(keys, model_->make_units(keys, false).lean);
}

UnitBlock Simulator::make_units(std::uint64_t first_row, std::size_t num_rows) const {
  return model_->make_units(keys_of(first_row, num_rows), true);
}

DrawnOutcomes Simulator::draw_outcomes(std::uint64_t first_row, std::span<const std::uint8_t> arms) const {
  return draw_outcomes(first_row, arms, model_->make_units(keys_of(first_row, arms.size()), false));
}

DrawnOutcomes Simulator::draw_outcomes(std::uint64_t first_row, std::span<const std::uint8_t> arms,
                                       const UnitBlock& block) const {
  const std::vector<UnitKey> keys = keys_of(first_row, arms.size());
  DrawnOutcomes outcomes{.revenue = std::vector<double>(arms.size()), .cost = std::vector<double>(arms.size())};
  model_->draw_outcomes(keys, block, arms, outcomes.revenue, outcomes.cost);
  return outcomes;
}

}  // namespace dfcl::simulate
