// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "dfcl/check/draws.h"
#include "dfcl/core/parallel.h"

namespace dfcl::check {
namespace {

constexpr ColumnInArm kEmpty{0, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};

}  // namespace

ColumnTable::ColumnTable(std::size_t num_arms, std::size_t features)
    : num_features(features), cells(num_arms * features, kEmpty), units_per_arm(num_arms) {}

void ColumnTable::add(std::size_t arm, std::span<const float> values) {
  ColumnInArm* own = cells.data() + arm * num_features;
  ++units_per_arm[arm];
  for (std::size_t feature = 0; feature < num_features; ++feature) {
    const float value = values[feature];
    if (!std::isfinite(value)) continue;
    ++own[feature].observed;
    own[feature].low = std::min(own[feature].low, value);
    own[feature].high = std::max(own[feature].high, value);
  }
}

void ColumnTable::merge(const ColumnTable& other) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i].observed += other.cells[i].observed;
    cells[i].low = std::min(cells[i].low, other.cells[i].low);
    cells[i].high = std::max(cells[i].high, other.cells[i].high);
  }
  for (std::size_t arm = 0; arm < units_per_arm.size(); ++arm) units_per_arm[arm] += other.units_per_arm[arm];
}

ColumnTable column_table(const data::Trial& trial, core::RunContext& context) {
  return core::sum_chunks(
      context, trial.num_units(), chunk_size_of(trial.num_units()),
      ColumnTable(trial.arms.size(), trial.features.num_features()),
      [&](std::size_t begin, std::size_t end) {
        ColumnTable part(trial.arms.size(), trial.features.num_features());
        for (std::size_t row = begin; row < end; ++row) part.add(trial.arm[row], trial.features.values.row(row));
        return part;
      },
      [](ColumnTable& total, const ColumnTable& part) { total.merge(part); });
}

std::vector<ColumnSummary> column_summaries(const data::Trial& trial, const ColumnTable& table) {
  const std::size_t num_units = std::accumulate(table.units_per_arm.begin(), table.units_per_arm.end(), std::size_t{0});
  std::vector<ColumnSummary> summaries(table.num_features);
  for (std::size_t feature = 0; feature < table.num_features; ++feature) {
    ColumnSummary& summary = summaries[feature];
    summary.name = trial.features.columns[feature].name;
    summary.categorical = trial.features.columns[feature].categorical;
    ColumnInArm whole = kEmpty;
    for (std::size_t arm = 0; arm < trial.arms.size(); ++arm) {
      const ColumnInArm& cell = table.cell(arm, feature);
      whole.observed += cell.observed;
      whole.low = std::min(whole.low, cell.low);
      whole.high = std::max(whole.high, cell.high);
      const auto units = static_cast<double>(std::max<std::size_t>(1, table.units_per_arm[arm]));
      summary.missing_share_per_arm.push_back(1.0 - static_cast<double>(cell.observed) / units);
    }
    const std::size_t missing = num_units - whole.observed;
    summary.missing_share = static_cast<double>(missing) / static_cast<double>(num_units);
    summary.constant = whole.observed == 0 || (missing == 0 && whole.constant());
  }
  return summaries;
}

}  // namespace dfcl::check
