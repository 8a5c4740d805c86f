// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/coupled_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dfcl/allocate/validate.h"
#include "dfcl/core/error.h"

namespace dfcl::allocate {
namespace {

constexpr std::size_t kMostLimits = 600;

double mean_magnitude(const core::MatrixView<const float>& matrix) {
  double sum = 0.0;
  for (std::size_t i = 0; i < matrix.size(); ++i) sum += std::abs(static_cast<double>(matrix.data[i]));
  const double mean = sum / std::max(1.0, static_cast<double>(matrix.size()));
  return std::isfinite(mean) && mean > 0.0 ? mean : 1.0;
}

double spread_of_gains(const CoupledModel& model) {
  double sum = 0.0;
  for (std::size_t unit = 0; unit < model.num_units(); ++unit) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (std::size_t arm = 0; arm < model.num_arms(); ++arm) {
      if (!model.may_get(unit, arm)) continue;
      low = std::min(low, model.gain(unit, arm));
      high = std::max(high, model.gain(unit, arm));
    }
    sum += high - low;
  }
  const double mean = sum / std::max(1.0, static_cast<double>(model.num_units()));
  return std::isfinite(mean) && mean > 0.0 ? mean : 1.0;
}

}  // namespace

CoupledModel::CoupledModel(const Problem& problem, double budget, Goal goal) : problem_(problem) {
  const Prices prices(problem.rules);
  scale_ = prices.profit ? prices.margin : 1.0;
  floor_ = std::max(problem.rules.min_roi, prices.profit ? 1.0 / prices.margin : 0.0);
  if (goal == Goal::least_spend) {
    revenue_weight_ = 0.0;
    scale_ = floor_ = 1.0;
  }
  if (budget < kNoBudget) total = add_limit(budget);
  if (has_second_resource(problem) && problem.second.budget < kNoBudget) second = add_limit(problem.second.budget);
  const auto num_units = static_cast<std::int64_t>(problem.num_units());
  for (const std::int64_t most : problem.max_units)
    upper.push_back(most < num_units ? add_limit(static_cast<double>(most)) : kNone);
  for (const std::int64_t least : problem.min_units)
    lower.push_back(least > 0 ? add_limit(-static_cast<double>(least)) : kNone);
  for (const double budget_of_segment : problem.segments.budgets)
    segment.push_back(budget_of_segment < kNoBudget ? add_limit(budget_of_segment) : kNone);
  if (num_limits() > kMostLimits) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "too many segment budgets together with other constraints",
                       .found = std::to_string(num_limits()),
                       .expected = "at most " + std::to_string(kMostLimits) + " limits"});
  }
}

CoupledModel::CoupledModel(const CoupledModel& whole, const Problem& units, std::vector<double> limits)
    : total(whole.total),
      second(whole.second),
      upper(whole.upper),
      lower(whole.lower),
      segment(whole.segment),
      problem_(units),
      revenue_weight_(whole.revenue_weight_),
      scale_(whole.scale_),
      floor_(whole.floor_),
      limit_(std::move(limits)),
      typical_use_(whole.typical_use_),
      gain_spread_(whole.gain_spread_) {}

std::size_t CoupledModel::add_limit(double limit) {
  limit_.push_back(limit);
  typical_use_.push_back(1.0);
  return limit_.size() - 1;
}

void CoupledModel::measure_scales(const Problem& units) {
  const double cost = mean_magnitude(units.cost);
  if (total != kNone) typical_use_[total] = cost;
  if (second != kNone) typical_use_[second] = mean_magnitude(units.second.cost);
  for (const std::size_t limit : segment) {
    if (limit != kNone) typical_use_[limit] = cost;
  }
  gain_spread_ = spread_of_gains(CoupledModel(*this, units, limit_));
}

double CoupledModel::gain_of_sums(const PlanSums& sums) const {
  const Totals all = sums.total();
  return gain_of_totals(all.revenue.value(), all.spend(Prices(problem_.rules)));
}

std::vector<double> CoupledModel::limits_beside(const PlanSums& sums) const {
  const Prices prices(problem_.rules);
  const Totals all = sums.total();
  std::vector<double> left = limit_;
  if (total != kNone) left[total] -= all.spend(prices);
  if (second != kNone) left[second] -= sums.second.value();
  for (std::size_t arm = 0; arm < num_arms(); ++arm) {
    const auto units = static_cast<double>(all.units[arm]);
    if (!upper.empty() && upper[arm] != kNone) left[upper[arm]] -= units;
    if (!lower.empty() && lower[arm] != kNone) left[lower[arm]] += units;
  }
  for (std::size_t s = 0; s < segment.size(); ++s) {
    if (segment[s] != kNone) left[segment[s]] -= sums.segments[s].spend(prices);
  }
  return left;
}

PriceBox CoupledModel::price_box(const std::vector<double>& multipliers, const std::vector<double>& widths) const {
  PriceBox box;
  box.gain_scale = revenue_gain();
  const auto add = [&](std::size_t limit, double sign, double& price, double& width) {
    if (limit == kNone) return;
    price += sign * multipliers[limit];
    width += widths[limit];
  };
  double price = cost_loss();
  double width = 0.0;
  add(total, 1.0, price, width);
  const std::size_t num_segments = std::max<std::size_t>(1, problem_.segments.budgets.size());
  box.cost_price.assign(num_segments, price);
  box.cost_width.assign(num_segments, width);
  for (std::size_t s = 0; s < segment.size(); ++s) add(segment[s], 1.0, box.cost_price[s], box.cost_width[s]);
  add(second, 1.0, box.second_price, box.second_width);
  if (upper.empty() && lower.empty()) return box;
  box.arm_price.assign(num_arms(), 0.0);
  box.arm_width.assign(num_arms(), 0.0);
  for (std::size_t arm = 0; arm < num_arms(); ++arm) {
    if (!upper.empty()) add(upper[arm], 1.0, box.arm_price[arm], box.arm_width[arm]);
    if (!lower.empty()) add(lower[arm], -1.0, box.arm_price[arm], box.arm_width[arm]);
  }
  return box;
}

}  // namespace dfcl::allocate
