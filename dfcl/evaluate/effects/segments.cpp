// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/effects/segments.h"

namespace dfcl::evaluate {
namespace {

struct ValueSums {
  double units = 0.0;
  double weight = 0.0;
  double revenue = 0.0;
  double cost = 0.0;
  std::vector<double> arm_units;
};

}  // namespace

void add_segments(const Setting& setting, std::span<const std::uint8_t> plan, PlanRun& run) {
  const TrialRows& rows = setting.input.rows;
  const bool doubly_robust = setting.options.estimator == Estimator::doubly_robust;
  const Rewards rewards(rows, doubly_robust ? Estimator::doubly_robust : Estimator::hajek, setting.input.nuisance,
                        setting.options.cost_limits.control_is_free);
  for (const SegmentColumn& column : setting.input.segments) {
    std::vector<ValueSums> sums(column.values.size(), {0.0, 0.0, 0.0, 0.0, std::vector<double>(rows.num_arms())});
    for (std::size_t row = 0; row < rows.size(); ++row) {
      ValueSums& value = sums[column.value_of_row[row]];
      const Contribution own = rewards.of(row, plan[row]);
      value.units += rows.sample_weight(row);
      value.weight += own.weight;
      value.revenue += own.revenue;
      value.cost += own.cost;
      value.arm_units[plan[row]] += rows.sample_weight(row);
    }
    std::vector<PlanEstimate>& estimates = run.segments.emplace_back();
    std::vector<std::vector<double>>& shares = run.segment_shares.emplace_back();
    for (ValueSums& value : sums) {
      const double divisor = doubly_robust ? value.units : value.weight;  // none seen: not a number
      estimates.push_back({value.revenue / divisor, value.cost / divisor});
      if (setting.knows_prices()) {
        estimates.back().cost = 0.0;
        for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
          estimates.back().cost += value.arm_units[arm] * rows.prices()[arm];
        }
        estimates.back().cost /= value.units;
      }
      for (double& units : value.arm_units) units /= value.units;
      shares.push_back(std::move(value.arm_units));
    }
  }
}

std::vector<SegmentFigures> segment_figures(const Setting& setting, const std::vector<PlanRun>& deployed) {
  std::vector<SegmentFigures> figures;
  for (std::size_t c = 0; c < setting.input.segments.size(); ++c) {
    const SegmentColumn& column = setting.input.segments[c];
    SegmentFigures& of_column = figures.emplace_back(SegmentFigures{column.name, {}});
    std::vector<std::size_t> units(column.values.size());
    for (const std::uint32_t value : column.value_of_row) ++units[value];
    for (std::size_t v = 0; v < column.values.size(); ++v) {
      SegmentValue value{column.values[v], units[v], {}, {}, {}};
      value.share_per_arm.resize(deployed.size());
      value.cost_per_unit.resize(deployed.size());
      value.revenue_per_unit.resize(deployed.size());
      for (std::size_t i = 0; i < deployed.size(); ++i) {
        const std::size_t budget = setting.budget_order[i];
        value.share_per_arm[budget] = deployed[i].segment_shares[c][v];
        value.cost_per_unit[budget] = deployed[i].segments[c][v].cost;
        value.revenue_per_unit[budget] = deployed[i].segments[c][v].revenue;
      }
      of_column.values.push_back(std::move(value));
    }
  }
  return figures;
}

}  // namespace dfcl::evaluate
