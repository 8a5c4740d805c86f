// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/power.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

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
  std::vector<double> sums(rows.num_arms()), weights(rows.num_arms());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    sums[rows.arm[row]] += rows.sample_weight(row) * static_cast<double>(outcome[row]);
    weights[rows.arm[row]] += rows.sample_weight(row);
  }
  core::Matrix<float> means(rows.size(), rows.num_arms());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t arm = 0; arm < rows.num_arms(); ++arm)
      means(row, arm) = static_cast<float>(sums[arm] / weights[arm]);
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
    weight += rows.total_weight(row);
    sum += rows.total_weight(row) * revenue;
    squares += rows.total_weight(row) * revenue * revenue;
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
    pair.differing += rows.sample_weight(row) / static_cast<double>(rows.size());
  }
  pair.sd = unit_sd(rows, parts, mean);
  pair.difference = core::t_interval(mean, pair.sd / std::sqrt(static_cast<double>(rows.size())),
                                     static_cast<double>(rows.num_groups()) - 1.0, level);
  pair.variance_a = variance_under(rows, arms_a);
  pair.launch_sd = std::sqrt(pair.variance_a + variance_under(rows, arms_b));
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
  // Units of a cluster are drawn together, so what is left of them adds up before it is squared.
  std::vector<double> left(rows.num_groups());
  double revenue_squares = 0.0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto revenue = static_cast<double>(rows.revenue[row]);
    const double residual = revenue - static_cast<double>(steadied.outcomes().revenue(row, rows.arm[row]));
    left[rows.group(row)] += rows.total_weight(row) * residual;
    pair.revenue_a += rows.sample_weight(row) * revenue;
    revenue_squares += rows.sample_weight(row) * (revenue * revenue);
  }
  const auto count = static_cast<double>(rows.size());
  const double squares = std::inner_product(left.begin(), left.end(), left.begin(), 0.0);
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

std::vector<ArmPower> arms_against_control(const evaluate::TrialRows& rows, const PowerLevels& levels) {
  const std::size_t control = rows.arms.control;
  std::vector<double> weight(rows.num_arms()), mean(rows.num_arms()), mean_cost(rows.num_arms());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    weight[rows.arm[row]] += rows.total_weight(row);
    mean[rows.arm[row]] += rows.total_weight(row) * static_cast<double>(rows.revenue[row]);
    mean_cost[rows.arm[row]] += rows.total_weight(row) * static_cast<double>(rows.cost[row]);
  }
  for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
    if (rows.arm_units[arm] < 2)
      throw core::Error({.kind = core::ErrorKind::data,
                         .what = fmt::format("arm '{}' has fewer than two rows to look at", rows.arms.labels[arm])});
    mean[arm] /= weight[arm];
    mean_cost[arm] /= weight[arm];
  }
  if (!rows.prices().empty()) mean_cost.assign(rows.prices().begin(), rows.prices().end());
  const auto count = static_cast<double>(rows.size());
  std::vector<ArmPower> found;
  std::vector<double> parts(rows.size());
  for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
    if (arm == control) continue;
    // The part of a row in the difference of two weighted means, linearised.
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const std::size_t own = rows.arm[row];
      const double rest =
          rows.total_weight(row) * (static_cast<double>(rows.revenue[row]) - mean[own]) * count / weight[own];
      parts[row] = own == arm ? rest : own == control ? -rest : 0.0;
    }
    ArmPower power{rows.arms.labels[arm],
                   rows.arm_units[arm],
                   {},
                   unit_sd(rows, parts, 0.0),
                   0.0,
                   mean_cost[arm] - mean_cost[control]};
    power.difference = core::t_interval(mean[arm] - mean[control], power.sd / std::sqrt(count),
                                        static_cast<double>(rows.num_groups()) - 1.0, levels.level);
    power.least_effect = smallest_gain(power.sd, count, levels);
    found.push_back(std::move(power));
  }
  return found;
}

std::vector<double> arm_variances(const evaluate::TrialRows& rows) {
  std::vector<double> variances;
  for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
    const std::vector<std::uint8_t> everyone(rows.size(), static_cast<std::uint8_t>(arm));
    variances.push_back(variance_under(rows, everyone));
  }
  return variances;
}

HoldoutNeed holdout_need(double control_variance, double plan_variance, double launch_units, double gain,
                         const PowerLevels& levels) {
  const double z = standard_errors(levels);
  const double roots = std::sqrt(control_variance) + std::sqrt(plan_variance);
  HoldoutNeed need{gain, std::nan(""), std::nan(""), std::ceil(z * z * roots * roots / (gain * gain))};
  // v_c (1 - h) + v_p h <= k h (1 - h), with k = N (gain / z)^2: the smaller root of a square in h.
  const double k = launch_units * gain * gain / (z * z);
  const double slope = k + control_variance - plan_variance;
  const double discriminant = slope * slope - 4.0 * k * control_variance;
  if (discriminant < 0.0 || slope <= 0.0) return need;
  // In this form nothing cancels where the hold-out is small.
  const double share = 2.0 * control_variance / (slope + std::sqrt(discriminant));
  if (!(share < 1.0)) return need;
  need.share = share;
  need.units = std::ceil(share * launch_units);
  return need;
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
