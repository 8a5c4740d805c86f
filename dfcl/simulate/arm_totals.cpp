// SPDX-License-Identifier: Apache-2.0
#include "dfcl/simulate/arm_totals.h"

#include <algorithm>
#include <variant>

namespace dfcl::simulate {
namespace {

double value_at(const data::ColumnValues& column, std::size_t row) {
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&column)) {
    return static_cast<double>((*integers)[row]);
  }
  return std::get<std::vector<double>>(column)[row];
}

double sum_of(const data::ColumnValues& column) {
  double sum = 0.0;
  for (const float value : std::get<std::vector<float>>(column)) sum += value;
  return sum;
}

}  // namespace

std::vector<ArmTotals> totals_of(const Simulator& simulator, const SimulatedRows& rows) {
  const std::size_t num_arms = simulator.arms().size();
  std::vector<std::int64_t> labels;
  for (const std::string& arm : simulator.arms()) labels.push_back(std::stoll(arm));

  // Arm, revenue and cost are the last columns of a trial; revenues and costs by arm the last of the truth.
  const std::vector<data::ColumnValues>& trial = rows.trial.columns;
  const std::vector<data::ColumnValues>& truth = rows.truth.columns;
  const auto& arms = std::get<std::vector<std::int64_t>>(trial[trial.size() - 3]);
  std::vector<ArmTotals> totals(num_arms);
  for (std::size_t row = 0; row < rows.trial.num_rows; ++row) {
    const auto place = std::find(labels.begin(), labels.end(), arms[row]);
    ArmTotals& arm = totals[static_cast<std::size_t>(place - labels.begin())];
    ++arm.units;
    arm.revenue += value_at(trial[trial.size() - 2], row);
    arm.cost += value_at(trial[trial.size() - 1], row);
  }
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    totals[arm].expected_revenue = sum_of(truth[truth.size() - 2 * num_arms + arm]);
    totals[arm].expected_cost = sum_of(truth[truth.size() - num_arms + arm]);
  }
  return totals;
}

void add_totals(std::vector<ArmTotals>& totals, const std::vector<ArmTotals>& more) {
  totals.resize(more.size());
  for (std::size_t arm = 0; arm < more.size(); ++arm) {
    totals[arm].units += more[arm].units;
    totals[arm].revenue += more[arm].revenue;
    totals[arm].cost += more[arm].cost;
    totals[arm].expected_revenue += more[arm].expected_revenue;
    totals[arm].expected_cost += more[arm].expected_cost;
  }
}

}  // namespace dfcl::simulate
