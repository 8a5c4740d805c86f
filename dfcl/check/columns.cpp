// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/columns.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dfcl/check/draws.h"
#include "dfcl/core/parallel.h"

namespace dfcl::check {
namespace {

constexpr ColumnInArm kEmpty{0, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};

ColumnTable empty_table(const data::Trial& trial) {
  ColumnTable table;
  table.num_features = trial.features.num_features();
  table.cells.assign(trial.arms.size() * table.num_features, kEmpty);
  table.units_per_arm.resize(trial.arms.size());
  return table;
}

}  // namespace

ColumnTable column_table(const data::Trial& trial, core::RunContext& context) {
  return core::sum_chunks(
      context, trial.num_units(), chunk_size_of(trial.num_units()), empty_table(trial),
      [&](std::size_t begin, std::size_t end) {
        ColumnTable part = empty_table(trial);
        for (std::size_t row = begin; row < end; ++row) {
          const std::span<const float> values = trial.features.values.row(row);
          ColumnInArm* cells = part.cells.data() + trial.arm[row] * part.num_features;
          ++part.units_per_arm[trial.arm[row]];
          for (std::size_t feature = 0; feature < part.num_features; ++feature) {
            const float value = values[feature];
            if (!std::isfinite(value)) continue;
            ++cells[feature].observed;
            cells[feature].low = std::min(cells[feature].low, value);
            cells[feature].high = std::max(cells[feature].high, value);
          }
        }
        return part;
      },
      [](ColumnTable& total, const ColumnTable& part) {
        for (std::size_t i = 0; i < total.cells.size(); ++i) {
          total.cells[i].observed += part.cells[i].observed;
          total.cells[i].low = std::min(total.cells[i].low, part.cells[i].low);
          total.cells[i].high = std::max(total.cells[i].high, part.cells[i].high);
        }
        for (std::size_t arm = 0; arm < total.units_per_arm.size(); ++arm) {
          total.units_per_arm[arm] += part.units_per_arm[arm];
        }
      });
}

std::vector<ColumnSummary> column_summaries(const data::Trial& trial, const ColumnTable& table) {
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
    const std::size_t missing = trial.num_units() - whole.observed;
    summary.missing_share = static_cast<double>(missing) / static_cast<double>(trial.num_units());
    summary.constant = whole.observed == 0 || (missing == 0 && whole.constant());
  }
  return summaries;
}

}  // namespace dfcl::check
