// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/power.h"

#include <fmt/format.h>

#include <cmath>

#include "dfcl/core/distributions.h"
#include "dfcl/core/error.h"

namespace dfcl::launch {
namespace {

// A gain of this many standard errors is found with the stated probability.
double standard_errors(const PowerLevels& levels) {
  return core::normal_quantile(0.5 + 0.5 * levels.level) + core::normal_quantile(levels.power);
}

// Means by arm, as a nuisance for whoever has no predictions: units x arms.
core::Matrix<float> arm_means(const evaluate::TrialRows& rows, const std::vector<float>& outcome) {
  std::vector<double> sums(rows.num_arms());
  for (std::size_t row = 0; row < rows.size(); ++row) sums[rows.arm[row]] += static_cast<double>(outcome[row]);
  core::Matrix<float> means(rows.size(), rows.num_arms());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t arm = 0; arm < rows.num_arms(); ++arm)
      means(row, arm) = static_cast<float>(sums[arm] / static_cast<double>(rows.arm_units[arm]));
  }
  return means;
}

// The given predictions, or the means of the arms.
class Steadied {
 public:
  Steadied(const evaluate::TrialRows& rows, evaluate::Outcomes nuisance) : nuisance_(nuisance) {
    if (nuisance.revenue.rows > 0) return;
    revenue_ = arm_means(rows, rows.revenue);
    cost_ = arm_means(rows, rows.cost);
    nuisance_ = {std::as_const(revenue_).view(), std::as_const(cost_).view()};
  }
  const evaluate::Outcomes& outcomes() const { return nuisance_; }

 private:
  core::Matrix<float> revenue_, cost_;
  evaluate::Outcomes nuisance_;
};

// Variance of revenue under a plan, from the units that got the plan's arm.
double variance_under(const evaluate::TrialRows& rows, std::span<const std::uint8_t> arms) {
  double weight = 0.0, sum = 0.0, squares = 0.0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows.arm[row] != arms[row]) continue;
    const auto revenue = static_cast<double>(rows.revenue[row]);
    weight += rows.weight[row];
    sum += rows.weight[row] * revenue;
    squares += rows.weight[row] * revenue * revenue;
  }
  return weight > 0.0 ? std::max(0.0, squares / weight - sum * sum / (weight * weight)) : 0.0;
}

// Standard deviation of a unit's part in a mean, units of a cluster taken together.
double unit_sd(const evaluate::TrialRows& rows, const std::vector<double>& parts, double mean) {
  std::vector<double> by_group(rows.num_groups());
  for (std::size_t row = 0; row < rows.size(); ++row) by_group[rows.group(row)] += parts[row] - mean;
  double squares = 0.0;
  for (const double sum : by_group) squares += sum * sum;
  const auto groups = static_cast<double>(by_group.size());
  return std::sqrt(squares / static_cast<double>(rows.size()) * groups / (groups - 1.0));
}

}  // namespace

void validate(const PowerLevels& levels) {
  const auto require = [](const char* field, double value, double least) {
    if (value > least && value < 1.0) return;
    throw core::Error({.kind = core::ErrorKind::usage,
                       .field = field,
                       .what = "out of range",
                       .found = fmt::format("{}", value),
                       .expected = fmt::format("above {}, below 1", least)});
  };
  require("power", levels.power, 0.5);
  require("level", levels.level, 0.0);
}

double smallest_gain(double sd, double units, const PowerLevels& levels) {
  return standard_errors(levels) * sd / std::sqrt(units);
}

double units_needed(double sd, double gain, const PowerLevels& levels) {
  const double root = standard_errors(levels) * sd / gain;
  return std::ceil(root * root);
}

double power_of(double sd, double units, double gain, double level) {
  const double quantile = core::normal_quantile(0.5 + 0.5 * level);
  const double shift = std::abs(gain) * std::sqrt(units) / sd;
  return core::normal_cdf(shift - quantile) + core::normal_cdf(-shift - quantile);
}

PlanPair compare_plans(const evaluate::TrialRows& rows, evaluate::Outcomes nuisance,
                       std::span<const std::uint8_t> arms_a, std::span<const std::uint8_t> arms_b, double level) {
  const Steadied steadied(rows, nuisance);
  const evaluate::Rewards rewards(rows, evaluate::Estimator::doubly_robust, steadied.outcomes());
  PlanPair pair;
  pair.units = rows.size();
  std::vector<double> parts(rows.size());
  double mean = 0.0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double a = rewards.of(row, arms_a[row]).revenue;
    pair.revenue_a += a / static_cast<double>(rows.size());
    if (arms_a[row] == arms_b[row]) continue;
    parts[row] = rewards.of(row, arms_b[row]).revenue - a;
    mean += parts[row] / static_cast<double>(rows.size());
    pair.differing += 1.0 / static_cast<double>(rows.size());
  }
  pair.sd = unit_sd(rows, parts, mean);
  pair.difference = core::t_interval(mean, pair.sd / std::sqrt(static_cast<double>(rows.size())),
                                     static_cast<double>(rows.num_groups()) - 1.0, level);
  pair.launch_sd = std::sqrt(variance_under(rows, arms_a) + variance_under(rows, arms_b));
  return pair;
}

PlanPair assume_plans(const evaluate::TrialRows& rows, evaluate::Outcomes nuisance, double differing) {
  if (!(differing > 0.0 && differing <= 1.0)) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .field = "differ",
                       .what = "out of range",
                       .found = fmt::format("{}", differing),
                       .expected = "a share of the units, above 0 and at most 1"});
  }
  const Steadied steadied(rows, nuisance);
  PlanPair pair;
  pair.units = rows.size();
  pair.plans_are_known = false;
  pair.differing = differing;
  double squares = 0.0, revenue_squares = 0.0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto revenue = static_cast<double>(rows.revenue[row]);
    const double left = revenue - static_cast<double>(steadied.outcomes().revenue(row, rows.arm[row]));
    squares += rows.weight[row] * rows.weight[row] * left * left;
    pair.revenue_a += revenue;
    revenue_squares += revenue * revenue;
  }
  const auto count = static_cast<double>(rows.size());
  pair.revenue_a /= count;
  // A unit speaks if its arm is one of the two: with probability 2 / arms.
  pair.sd = std::sqrt(differing * 2.0 / static_cast<double>(rows.num_arms()) * squares / count);
  pair.difference = {std::nan("")};
  pair.launch_sd = std::sqrt(2.0 * std::max(0.0, revenue_squares / count - pair.revenue_a * pair.revenue_a));
  return pair;
}

double launch_units_needed(const PlanPair& pair, double gain, const PowerLevels& levels) {
  return units_needed(std::sqrt(2.0) * pair.launch_sd, gain, levels);
}

GainNeed gain_need(const PlanPair& pair, double gain, double split_share, const PowerLevels& levels) {
  const double rows = units_needed(pair.sd, gain, levels);
  return {gain, rows, std::ceil(rows / split_share), launch_units_needed(pair, gain, levels)};
}

std::vector<PowerPoint> power_curve(double sd, double gain, const PowerLevels& levels) {
  const double needed = units_needed(sd, gain, levels);
  std::vector<PowerPoint> points;
  for (int step = -8; step <= 8; ++step) {
    const double rows = std::round(needed * std::pow(10.0, 0.15 * step));
    points.push_back({rows, power_of(sd, rows, gain, levels.level)});
  }
  return points;
}

}  // namespace dfcl::launch
