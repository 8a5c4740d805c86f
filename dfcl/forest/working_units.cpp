// SPDX-License-Identifier: Apache-2.0
#include "dfcl/forest/working_units.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/parallel.h"

namespace dfcl::forest {
namespace {

constexpr std::size_t kChunkUnits = 8192;
constexpr double kMostSum = 2.0e9;  // below 2^31, with room for rounding

double sum_over(core::RunContext& context, std::size_t num_units, const auto& term) {
  return core::sum_chunks(
      context, num_units, kChunkUnits, 0.0,
      [&](std::size_t begin, std::size_t end) {
        double part = 0.0;
        for (std::size_t unit = begin; unit < end; ++unit) part += term(unit);
        return part;
      },
      [](double& total, double part) { total += part; });
}

// One outcome: working response and weight of each unit.
struct Working {
  std::vector<float> response;
  std::vector<float> weight;  // mean 1
};

// Variance of the outcome about its base: dispersion x m + excess x m^2, from two moments of the squared residuals
// that neither the largest nor the smallest units rule.
struct VarianceFunction {
  double dispersion = 1.0;
  double excess = 0.0;
};

VarianceFunction fit_variance(std::span<const float> outcome, const std::vector<double>& base, double mean,
                              core::RunContext& context) {
  const auto total = [&](const auto& term) {
    return sum_over(context, base.size(), [&](std::size_t unit) {
      const double residual = static_cast<double>(outcome[unit]) - base[unit];
      return term(residual * residual, base[unit], 1.0 / (1.0 + base[unit] / mean));
    });
  };
  const auto count = static_cast<double>(base.size());
  const double first = total([](double square, double m, double) { return square / m; });
  const double second = total([](double square, double m, double tilt) { return tilt * square / m; });
  const double sum_base = total([](double, double m, double) { return m; });
  const double sum_tilt = total([](double, double, double tilt) { return tilt; });
  const double sum_tilted_base = total([](double, double m, double tilt) { return tilt * m; });
  const double determinant = count * sum_tilted_base - sum_tilt * sum_base;
  VarianceFunction result{first / count, 0.0};
  if (std::abs(determinant) > 1e-9 * count * sum_tilted_base) {
    const double dispersion = (first * sum_tilted_base - second * sum_base) / determinant;
    const double excess = (count * second - sum_tilt * first) / determinant;
    if (excess > 0.0) result = {std::max(dispersion, 0.05 * first / count), excess};
  }
  if (!(result.dispersion > 0.0)) result.dispersion = 1.0;  // outcomes equal to their base
  return result;
}

Working work_on(std::span<const float> outcome, std::span<const float> given_base, Link link,
                core::RunContext& context) {
  const std::size_t num_units = outcome.size();
  Working working{std::vector<float>(num_units), std::vector<float>(num_units, 1.0f)};
  if (link == Link::difference) {
    for (std::size_t unit = 0; unit < num_units; ++unit) working.response[unit] = outcome[unit] - given_base[unit];
    return working;
  }
  const double sum = sum_over(context, num_units, [&](std::size_t unit) { return static_cast<double>(outcome[unit]); });
  const double mean = sum > 0.0 ? sum / static_cast<double>(num_units) : 1.0;
  std::vector<double> base(num_units);
  for (std::size_t unit = 0; unit < num_units; ++unit)
    base[unit] = std::max(static_cast<double>(given_base[unit]), kLeastBase * mean);
  const VarianceFunction variance = fit_variance(outcome, base, mean, context);
  const auto weight = [&](std::size_t unit) {
    return base[unit] / (variance.dispersion + variance.excess * base[unit]);
  };
  const double mean_weight = sum_over(context, num_units, weight) / static_cast<double>(num_units);
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    working.response[unit] = static_cast<float>(static_cast<double>(outcome[unit]) / base[unit] - 1.0);
    working.weight[unit] = static_cast<float>(weight(unit) / mean_weight);
  }
  return working;
}

// Of an arm, over its units.
struct ArmMoments {
  double weight = 0.0;
  std::array<double, 2> mean{};     // sums first
  std::array<double, 2> squares{};  // of weight x (response - mean)
  double product = 0.0;             // of the two outcomes, likewise
};

// Correlations of pseudo-outcomes: those of one arm share its units, all share those of control. Only their sums are
// needed: of every row, C 1, and of all, 1' C 1.
double share_along_sum(const WorkingUnits& working, const std::vector<ArmMoments>& arms) {
  const ArmMoments& control = arms[working.control];
  const auto covariance = [](const ArmMoments& of, std::size_t first, std::size_t second) {
    return (first == second ? of.squares[first] : of.product) / (of.weight * of.weight);
  };
  const auto units = static_cast<double>(working.sums.size());
  double squares = 0.0, total = 0.0;
  for (std::size_t arm = 0; arm < arms.size(); ++arm) {
    for (std::size_t outcome = 0; outcome < 2; ++outcome) {
      double row = 0.0;
      for (std::size_t other = 0; other < arms.size(); ++other) {
        for (std::size_t second = 0; second < 2; ++second) {
          const double own = other == arm ? covariance(arms[arm], outcome, second) : 0.0;
          row += units * (own + covariance(control, outcome, second)) *
                 std::sqrt(working.inverse_spread[arm][outcome] * working.inverse_spread[other][second]);
        }
      }
      squares += row * row;
      total += row;
    }
  }
  return total > 0.0 ? squares / total : 1.0;
}

// In two passes over the units: sums, then what is left of the means.
std::vector<ArmMoments> arm_moments(const WorkingUnits& working, core::RunContext& context) {
  const auto total = [&](std::vector<ArmMoments> start, const auto& add) {
    return core::sum_chunks(
        context, working.sums.size(), kChunkUnits, std::move(start),
        [&](std::size_t begin, std::size_t end) {
          std::vector<ArmMoments> part(working.num_arms);
          for (std::size_t unit = begin; unit < end; ++unit)
            add(working.sums[unit], part[working.arm[unit]], working.arm[unit]);
          return part;
        },
        [](std::vector<ArmMoments>& sum, const std::vector<ArmMoments>& part) {
          for (std::size_t arm = 0; arm < sum.size(); ++arm) {
            sum[arm].weight += part[arm].weight;
            sum[arm].product += part[arm].product;
            for (std::size_t outcome = 0; outcome < 2; ++outcome) {
              sum[arm].mean[outcome] += part[arm].mean[outcome];
              sum[arm].squares[outcome] += part[arm].squares[outcome];
            }
          }
        });
  };
  std::vector<ArmMoments> means =
      total(std::vector<ArmMoments>(working.num_arms), [](const Sums& s, ArmMoments& to, std::size_t) {
        to.weight += static_cast<double>(s.weight);
        to.mean[0] += static_cast<double>(s.revenue);
        to.mean[1] += static_cast<double>(s.cost);
      });
  for (ArmMoments& moments : means) {
    moments.weight = std::max(1.0, moments.weight);
    for (double& mean : moments.mean) mean /= moments.weight;
  }
  return total(means, [&](const Sums& s, ArmMoments& to, std::size_t arm) {
    const double revenue = s.revenue - means[arm].mean[0] * s.weight;
    const double cost = s.cost - means[arm].mean[1] * s.weight;
    to.squares[0] += revenue * revenue;
    to.squares[1] += cost * cost;
    to.product += revenue * cost;
  });
}

// Mean squares of n x influence on each effect, which is that of the arm's mean less that of control's.
void measure_spread(WorkingUnits& working, core::RunContext& context) {
  const std::vector<ArmMoments> arms = arm_moments(working, context);
  const auto num_units = static_cast<double>(working.sums.size());
  const ArmMoments& control = arms[working.control];
  working.inverse_spread.assign(working.num_arms, {0.0, 0.0});
  for (std::size_t arm = 0; arm < working.num_arms; ++arm) {
    if (arm == working.control) continue;
    for (std::size_t outcome = 0; outcome < 2; ++outcome) {
      const double mean_square = num_units * (arms[arm].squares[outcome] / std::pow(arms[arm].weight, 2) +
                                              control.squares[outcome] / std::pow(control.weight, 2));
      working.inverse_spread[arm][outcome] = mean_square > 0.0 ? 1.0 / mean_square : 0.0;
    }
  }
  working.share_along_sum = share_along_sum(working, arms);
}

}  // namespace

WorkingUnits make_working_units(const SeenOutcomes& seen, core::RunContext& context) {
  const std::size_t num_units = seen.arm.size();
  const Working revenue = work_on(seen.revenue, seen.base_revenue, seen.revenue_link, context);
  const Working cost = work_on(seen.cost, seen.base_cost, seen.cost_link, context);
  WorkingUnits working;
  working.num_arms = seen.num_arms;
  working.control = seen.control;
  working.arm.assign(seen.arm.begin(), seen.arm.end());
  working.sums.resize(num_units);
  // Inverse propensities only matter within an arm: their mean over each arm is brought to 1.
  std::vector<double> arm_factor(seen.num_arms, 1.0);
  if (!seen.inverse_propensity.empty()) {
    std::vector<double> totals(seen.num_arms), counts(seen.num_arms);
    for (std::size_t unit = 0; unit < num_units; ++unit) {
      totals[seen.arm[unit]] += static_cast<double>(seen.inverse_propensity[unit]);
      counts[seen.arm[unit]] += 1.0;
    }
    for (std::size_t arm = 0; arm < seen.num_arms; ++arm)
      if (totals[arm] > 0.0) arm_factor[arm] = counts[arm] / totals[arm];
  }
  const auto weight = [&](std::size_t unit) {
    const auto of_revenue = static_cast<double>(revenue.weight[unit]);
    const double shared =
        seen.cost_is_known ? of_revenue : 2.0 / (1.0 / of_revenue + 1.0 / static_cast<double>(cost.weight[unit]));
    if (seen.inverse_propensity.empty()) return shared;
    return shared * static_cast<double>(seen.inverse_propensity[unit]) * arm_factor[seen.arm[unit]];
  };
  const auto step_of = [&](const auto& value) {
    const double total = sum_over(context, num_units, [&](std::size_t unit) { return std::abs(value(unit)); });
    return total > 0.0 ? total / (kMostSum - static_cast<double>(num_units)) : 1.0;
  };
  const auto revenue_value = [&](std::size_t unit) {
    return weight(unit) * static_cast<double>(revenue.response[unit]);
  };
  const auto cost_value = [&](std::size_t unit) { return weight(unit) * static_cast<double>(cost.response[unit]); };
  working.revenue_step = step_of(revenue_value);
  working.cost_step = step_of(cost_value);
  working.weight_step = step_of(weight);
  const auto steps = [](double value, double step) { return static_cast<std::int32_t>(std::lround(value / step)); };
  core::for_each_chunk(context, num_units, kChunkUnits, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t unit = begin; unit < end; ++unit) {
      working.sums[unit] = {steps(revenue_value(unit), working.revenue_step),
                            steps(cost_value(unit), working.cost_step),
                            std::max(1, steps(weight(unit), working.weight_step)), 1};
    }
  });
  measure_spread(working, context);
  return working;
}

}  // namespace dfcl::forest
