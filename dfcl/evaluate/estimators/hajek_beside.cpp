// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/estimators/hajek_beside.h"

#include <vector>

#include "dfcl/core/parallel.h"

namespace dfcl::evaluate {

HajekBeside::HajekBeside(const TrialRows& rows, bool free_control, double level, core::RunContext& context)
    : rewards_(rows, Estimator::hajek, {}, free_control), level_(level) {
  const std::vector<std::uint8_t> control(rows.size(), static_cast<std::uint8_t>(rows.arms.control));
  control_ = means_of(control, context);
  control_series_ = influence_of(rewards_, control, context);
}

HajekBeside::Means HajekBeside::means_of(std::span<const std::uint8_t> plan, core::RunContext& context) const {
  const TrialRows& rows = rewards_.rows();
  struct Sums {
    Contribution of_rows;
    double price = 0.0;
  };
  const Sums sums = core::sum_chunks(
      context, plan.size(), 16'384, Sums{},
      [&](std::size_t begin, std::size_t end) {
        Sums part;
        for (std::size_t row = begin; row < end; ++row) {
          const Contribution one = rewards_.of(row, plan[row]);
          part.of_rows.revenue += one.revenue;
          part.of_rows.cost += one.cost;
          part.of_rows.weight += one.weight;
          if (!rows.prices().empty()) part.price += rows.sample_weight(row) * rows.prices()[plan[row]];
        }
        return part;
      },
      [](Sums& total, const Sums& part) {
        total.of_rows.revenue += part.of_rows.revenue;
        total.of_rows.cost += part.of_rows.cost;
        total.of_rows.weight += part.of_rows.weight;
        total.price += part.price;
      });
  // NaN where nobody received the arm chosen for them.
  const double weight = sums.of_rows.weight;
  return {sums.of_rows.revenue / weight,
          rows.prices().empty() ? sums.of_rows.cost / weight : sums.price / static_cast<double>(plan.size())};
}

HajekFigures HajekBeside::figures(std::span<const std::uint8_t> plan, core::RunContext& context) const {
  const Means means = means_of(plan, context);
  const PlanSeries series = influence_of(rewards_, plan, context);
  const auto interval = [&](double value, const Series& own, const Series& control) {
    const double deviation = standard_deviation(combine(1.0, own, -1.0, control), SeriesKind::influence);
    return core::normal_interval(value, deviation, level_);
  };
  const double extra_cost = means.cost - control_.cost;
  return {interval(means.revenue - control_.revenue, series.revenue, control_series_.revenue),
          rewards_.rows().prices().empty() ? interval(extra_cost, series.cost, control_series_.cost)
                                           : Interval(extra_cost)};
}

}  // namespace dfcl::evaluate
