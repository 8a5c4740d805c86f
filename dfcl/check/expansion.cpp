// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/expansion.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/core/parallel.h"

namespace dfcl::check {
namespace {

using Plan = Expansion::Plan;

bool on_both_sides(std::size_t hits, std::size_t total, std::size_t least) {
  return hits >= least && total - hits >= least;
}

float quantile(std::vector<float>& values, double probability) {
  const auto rank = static_cast<std::ptrdiff_t>(probability * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

// Columns are marked with 0 here and numbered once all features are planned.
void plan_number(std::vector<float>& values, double tail, std::size_t least, Plan& plan) {
  if (values.empty()) return;
  plan.low = quantile(values, tail);
  plan.high = quantile(values, 1.0 - tail);
  std::size_t at_low = 0;
  std::size_t at_high = 0;
  std::size_t equal_low = 0;
  double sum = 0.0;
  for (const float value : values) {
    at_low += value <= plan.low ? 1 : 0;
    at_high += value >= plan.high ? 1 : 0;
    equal_low += value == plan.low ? 1 : 0;
    sum += static_cast<double>(std::clamp(value, plan.low, plan.high));
  }
  if (plan.low == plan.high) {
    plan.flag = true;
    if (on_both_sides(equal_low, values.size(), least)) plan.value_column = 0;
    return;
  }
  if (values.size() - at_low < least || values.size() - at_high < least) return;
  const double mean = sum / static_cast<double>(values.size());
  double squares = 0.0;
  for (const float value : values) {
    const double deviation = static_cast<double>(std::clamp(value, plan.low, plan.high)) - mean;
    squares += deviation * deviation;
  }
  plan.center = static_cast<float>(mean);
  plan.inverse_scale = static_cast<float>(1.0 / std::sqrt(squares / static_cast<double>(values.size())));
  if (std::isfinite(plan.inverse_scale) && std::isfinite(plan.center)) {
    plan.value_column = 0;
  } else {
    plan.center = 0.0f;
    plan.inverse_scale = 1.0f;
  }
}

void plan_levels(const std::vector<float>& codes, std::size_t num_levels, std::size_t max_levels, std::size_t least,
                 Plan& plan) {
  std::vector<std::size_t> counts(num_levels);
  for (const float code : codes) {
    if (code >= 0.0f && code < static_cast<float>(num_levels)) ++counts[static_cast<std::size_t>(code)];
  }
  std::vector<std::size_t> order(num_levels);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  plan.level_columns.assign(num_levels, Expansion::kNone);
  // The most frequent level is what the others are measured against.
  for (std::size_t i = 1; i < num_levels && i <= max_levels; ++i) {
    if (on_both_sides(counts[order[i]], codes.size(), least)) plan.level_columns[order[i]] = 0;
  }
}

void number_columns(Plan& plan, std::size_t& next) {
  plan.first_column = next;
  const auto number = [&](std::size_t& column) {
    if (column != Expansion::kNone) column = next++;
  };
  number(plan.value_column);
  for (std::size_t& column : plan.level_columns) number(column);
  number(plan.missing_column);
  plan.end_column = next;
}

}  // namespace

Expansion::Expansion(const data::Features& features, const RowGroups& order, std::size_t smallest_arm,
                     const CheckOptions& options, core::RunContext& context)
    : plans_(features.num_features()) {
  const std::vector<std::uint64_t> sample = sample_rows(order, options.quantile_rows);
  const double tail_in_arm = 5.0 / static_cast<double>(std::max<std::size_t>(1, smallest_arm));
  const double tail = std::clamp(tail_in_arm, 0.005, 0.25);
  const auto least =
      std::max<std::size_t>(20, static_cast<std::size_t>(tail_in_arm * static_cast<double>(sample.size())));
  const auto num_categorical = static_cast<std::size_t>(std::count_if(
      features.columns.begin(), features.columns.end(), [](const auto& column) { return column.categorical; }));
  // Many categories share what is left of the columns, so that the joint test stays within its limit.
  std::size_t max_levels = options.max_levels;
  if (num_categorical > 0) {
    const std::size_t others = 2 * features.num_features();
    const std::size_t room = options.max_columns > others ? (options.max_columns - others) / num_categorical : 1;
    max_levels = std::clamp<std::size_t>(room, 1, options.max_levels);
  }
  core::for_each_chunk(context, plans_.size(), 1, [&](std::size_t feature, std::size_t, std::size_t) {
    Plan& plan = plans_[feature];
    plan.categorical = features.columns[feature].categorical;
    std::vector<float> observed;
    observed.reserve(sample.size());
    for (const std::uint64_t row : sample) {
      const float value = features.values(row, feature);
      if (std::isfinite(value)) observed.push_back(value);
    }
    if (on_both_sides(observed.size(), sample.size(), least)) plan.missing_column = 0;
    if (plan.categorical) {
      plan_levels(observed, features.columns[feature].levels.size(), max_levels, least, plan);
    } else {
      plan_number(observed, tail, least, plan);
    }
  });
  for (Plan& plan : plans_) number_columns(plan, num_columns_);
}

void Expansion::add(std::span<const float> row, float weight, std::span<float> sums) const {
  for (std::size_t feature = 0; feature < plans_.size(); ++feature) {
    const Plan& plan = plans_[feature];
    const float value = row[feature];
    if (!std::isfinite(value)) {
      if (plan.missing_column != kNone) sums[plan.missing_column] += weight;
    } else if (plan.categorical) {
      if (value < 0.0f || value >= static_cast<float>(plan.level_columns.size())) continue;
      const std::size_t column = plan.level_columns[static_cast<std::size_t>(value)];
      if (column != kNone) sums[column] += weight;
    } else if (plan.value_column != kNone) {
      const float standardised = plan.flag
                                     ? (value != plan.low ? 1.0f : 0.0f)
                                     : (std::clamp(value, plan.low, plan.high) - plan.center) * plan.inverse_scale;
      sums[plan.value_column] += weight * standardised;
    }
  }
}

void Expansion::save(core::ByteWriter& bytes) const {
  bytes.write_count(num_columns_);
  bytes.write_count(plans_.size());
  for (const Plan& plan : plans_) {
    bytes.write(plan.categorical);
    bytes.write(plan.flag);
    for (const float number : {plan.low, plan.high, plan.center, plan.inverse_scale}) bytes.write(number);
    bytes.write_count(plan.value_column);
    bytes.write_count(plan.missing_column);
    bytes.write_all(plan.level_columns);
    bytes.write_count(plan.first_column);
    bytes.write_count(plan.end_column);
  }
}

Expansion Expansion::load(core::ByteReader& bytes) {
  constexpr std::size_t kMostColumns = 1'000'000;
  Expansion expansion;
  std::size_t next = 0;  // columns are numbered feature after feature
  expansion.num_columns_ = bytes.read<std::uint64_t>();
  bytes.require(expansion.num_columns_ <= kMostColumns, "too many columns");
  const auto read_column = [&] {
    const auto column = static_cast<std::size_t>(bytes.read<std::uint64_t>());
    bytes.require(column == kNone || column < expansion.num_columns_, "a column that is none");
    return column;
  };
  expansion.plans_.resize(bytes.read_count(2));
  for (Plan& plan : expansion.plans_) {
    plan.categorical = bytes.read<std::uint8_t>() != 0;
    plan.flag = bytes.read<std::uint8_t>() != 0;
    for (float* number : {&plan.low, &plan.high, &plan.center, &plan.inverse_scale}) {
      *number = bytes.read<float>();
      bytes.require(std::isfinite(*number), "a number that is not finite");
    }
    plan.value_column = read_column();
    plan.missing_column = read_column();
    plan.level_columns = bytes.read_all<std::size_t>();
    for (const std::size_t column : plan.level_columns)
      bytes.require(column == kNone || column < expansion.num_columns_, "a column that is none");
    plan.first_column = bytes.read<std::uint64_t>();
    plan.end_column = bytes.read<std::uint64_t>();
    bytes.require(plan.first_column == next && plan.end_column >= next &&
                      plan.end_column - next <= plan.level_columns.size() + 2 && plan.low <= plan.high,
                  "columns that cannot be");
    next = plan.end_column;
  }
  bytes.require(next == expansion.num_columns_, "columns of no feature");
  return expansion;
}

void Expansion::keep(std::span<const std::size_t> columns) {
  std::vector<std::size_t> place(num_columns_, kNone);
  for (std::size_t i = 0; i < columns.size(); ++i) place[columns[i]] = i;
  const auto move = [&](std::size_t& column) {
    if (column != kNone) column = place[column];
  };
  for (Plan& plan : plans_) {
    move(plan.value_column);
    move(plan.missing_column);
    for (std::size_t& column : plan.level_columns) move(column);
    const auto first = std::lower_bound(columns.begin(), columns.end(), plan.first_column);
    const auto end = std::lower_bound(columns.begin(), columns.end(), plan.end_column);
    plan.first_column = static_cast<std::size_t>(first - columns.begin());
    plan.end_column = static_cast<std::size_t>(end - columns.begin());
  }
  num_columns_ = columns.size();
}

std::string Expansion::what(const data::FeatureColumn& feature, const Plan& plan, std::size_t column) const {
  if (column == plan.missing_column) return "missing";
  for (std::size_t code = 0; code < plan.level_columns.size(); ++code) {
    if (plan.level_columns[code] == column) return "= " + feature.levels[code];
  }
  return "value";
}

}  // namespace dfcl::check
