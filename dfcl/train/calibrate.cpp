// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/calibrate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dfcl/core/parallel.h"
#include "dfcl/train/effect_slopes.h"
#include "dfcl/train/seen_outcome.h"
#include "dfcl/train/shrunk.h"

namespace dfcl::train {
namespace {

constexpr std::size_t kChunk = 16'384;
constexpr std::size_t kLeastArmGroups = 5;  // units or clusters of an arm: fewer say nothing about its mean
constexpr double kArmErrors = 2.0;          // standard errors within which arms are taken to be off alike
constexpr double kMostLogShift = 1.5;       // a factor of 4.5: beyond it a model is wrong in ways that no factor mends

using Vector = std::vector<double>;

Vector sum_rows(core::RunContext& context, const SeenOutcome& seen, auto&& add_row) {
  return core::sum_chunks(
      context, seen.size(), kChunk, Vector(seen.predicted.cols),
      [&](std::size_t begin, std::size_t end) {
        Vector sums(seen.predicted.cols);
        for (std::size_t unit = begin; unit < end; ++unit) add_row(unit, sums);
        return sums;
      },
      [](Vector& all, const Vector& part) {
        for (std::size_t i = 0; i < all.size(); ++i) all[i] += part[i];
      });
}

// Per arm: the mean prediction of all units, the distance to the doubly robust mean and its variance.
struct Levels {
  Vector mean;
  Vector distance;
  Vector variance;
};

Levels find_levels(const SeenOutcome& seen, core::RunContext& context) {
  const std::size_t num_arms = seen.predicted.cols;
  Levels levels{Vector(num_arms), Vector(num_arms), Vector(num_arms)};
  const double num_units = seen.total();
  levels.mean = sum_rows(context, seen, [&](std::size_t unit, Vector& sums) {
    for (std::size_t arm = 0; arm < num_arms; ++arm)
      sums[arm] += seen.sample_weight(unit) * static_cast<double>(seen.predicted(unit, arm));
  });
  const Vector weights = sum_rows(context, seen, [&](std::size_t unit, Vector& sums) {
    sums[seen.units.arm[unit]] += static_cast<double>(seen.units.weight[unit]);
  });
  const auto residual = [&](std::size_t unit) {
    const std::size_t arm = seen.units.arm[unit];
    return static_cast<double>(seen.observed[unit]) - static_cast<double>(seen.predicted(unit, arm));
  };
  levels.distance = sum_rows(context, seen, [&](std::size_t unit, Vector& sums) {
    sums[seen.units.arm[unit]] += static_cast<double>(seen.units.weight[unit]) * residual(unit);
  });
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    levels.mean[arm] /= num_units;
    levels.distance[arm] = weights[arm] > 0.0 ? levels.distance[arm] / weights[arm] : 0.0;
    ProductSums<1> squares(seen.units.cluster);
    for (std::size_t unit = 0; unit < seen.size(); ++unit) {
      if (seen.units.arm[unit] != arm) continue;
      squares.add(unit, {static_cast<double>(seen.units.weight[unit]) * (residual(unit) - levels.distance[arm])});
    }
    if (squares.num_groups() < kLeastArmGroups) {
      levels.distance[arm] = 0.0;
    } else {
      levels.variance[arm] = squares.total()[0] / (weights[arm] * weights[arm]);
    }
  }
  return levels;
}

// The shift of the logit after which the mean prediction of these arms is the target; by Newton's method, whose steps
// are cut because the mean is flat far from its middle.
double logit_shift(const SeenOutcome& seen, const std::vector<std::size_t>& arms, double target,
                   core::RunContext& context) {
  const learn::OutcomeForm form = learn::outcome_form(seen.facts);
  double shift = 0.0;
  for (int step = 0; step < 20; ++step) {
    const Vector sums = sum_rows(context, seen, [&](std::size_t unit, Vector& of) {
      for (const std::size_t arm : arms) {
        const double value = learn::shifted(form, static_cast<double>(seen.predicted(unit, arm)), shift);
        of[0] += seen.sample_weight(unit) * value;
        of[1] += seen.sample_weight(unit) * (value * (1.0 - value));
      }
    });
    const double missing = target - sums[0] / seen.total();
    const double slope = sums[1] / seen.total();
    if (!(slope > 0.0)) break;
    const double change = std::clamp(missing / slope, -1.0, 1.0);
    shift = std::clamp(shift + change, -kMostLogShift, kMostLogShift);
    if (std::abs(change) < 1e-12) break;
  }
  return shift;
}

// From a mean to another, on the scale of the link.
double shift_to(const SeenOutcome& seen, const std::vector<std::size_t>& arms, double mean, double distance,
                core::RunContext& context) {
  if (distance == 0.0) return 0.0;
  switch (seen.facts.kind) {
    case loss::OutcomeKind::real: return distance / static_cast<double>(arms.size());
    case loss::OutcomeKind::non_negative:
      if (!(mean > 0.0)) return 0.0;
      return std::log(std::clamp((mean + distance) / mean, std::exp(-kMostLogShift), std::exp(kMostLogShift)));
    case loss::OutcomeKind::binary: return logit_shift(seen, arms, mean + distance, context);
  }
  return 0.0;
}

// What is exactly 0 by rule, control's cost where it is free, stays so.
bool is_fixed(const SeenOutcome& seen, std::size_t arm) { return seen.facts.control_is_free && arm == seen.control; }

// Of the mean: what a small shift on the scale of the link changes it by.
double link_slope(const SeenOutcome& seen, double mean) {
  switch (seen.facts.kind) {
    case loss::OutcomeKind::real: return 1.0;
    case loss::OutcomeKind::non_negative: return mean;
    case loss::OutcomeKind::binary: return mean * (1.0 - mean);
  }
  return 1.0;
}

// What all arms are off by, on the scale of the link, and its variance. Arms that differ from each other by more than
// their errors count more nearly alike (random effects; DerSimonian and Laird's moment estimate): an arm whose mean is
// known to the last digit, as that of a control which costs nothing, must not speak for the others.
struct CommonShift {
  double value = 0.0;
  double variance = 0.0;  // 0: no arm says anything
};

struct ArmShift {
  double value, variance;
};

CommonShift common_shift(const std::vector<ArmShift>& arms) {
  const auto mean_with = [&](double between) {
    double sum = 0.0, weights = 0.0;
    for (const ArmShift& arm : arms) {
      sum += arm.value / (arm.variance + between);
      weights += 1.0 / (arm.variance + between);
    }
    return CommonShift{sum / weights, 1.0 / weights};
  };
  if (arms.empty()) return {};
  const CommonShift alike = mean_with(0.0);
  double more = 1.0, products = 0.0;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    more += (arms[i].value - alike.value) * (arms[i].value - alike.value) / arms[i].variance - 1.0;
    for (std::size_t j = 0; j < i; ++j) products += 2.0 * alike.variance / arms[i].variance / arms[j].variance;
  }
  return more > 0.0 && products > 0.0 ? mean_with(more / products) : alike;
}

// Distances to move the arms by. On the scale of the link, what all arms are off by, shrunk by its standard error, and
// what an arm is off from that, where it is more than kArmErrors of its own: decisions live on contrasts between arms,
// and a shift for one arm alone moves those of every unit by the error of one mean (docs/decisions/0063).
Vector shrunk_distances(const SeenOutcome& seen, const Levels& levels) {
  const std::size_t num_arms = levels.mean.size();
  const auto is_measured = [&](std::size_t arm) {
    return !is_fixed(seen, arm) && levels.variance[arm] > 0.0 && link_slope(seen, levels.mean[arm]) > 0.0;
  };
  std::vector<ArmShift> measured;
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    if (!is_measured(arm)) continue;
    const double slope = link_slope(seen, levels.mean[arm]);
    measured.push_back({levels.distance[arm] / slope, levels.variance[arm] / (slope * slope)});
  }
  const CommonShift common = common_shift(measured);
  Vector distances(num_arms);
  if (!(common.variance > 0.0)) return distances;
  // A fit knows the mean of an arm as surely as its units do; these add theirs.
  const double for_all = shrunk(common.value, common.variance);
  const auto num_units = static_cast<double>(seen.size());
  const double share = num_units / (num_units + static_cast<double>(seen.units.num_fitted));
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    const double slope = link_slope(seen, levels.mean[arm]);
    distances[arm] = slope * for_all;
    if (is_measured(arm))
      distances[arm] +=
          share * shrunk(levels.distance[arm] - slope * for_all, kArmErrors * kArmErrors * levels.variance[arm]);
  }
  return distances;
}

Vector find_shifts(const SeenOutcome& seen, core::RunContext& context) {
  const std::size_t num_arms = seen.predicted.cols;
  const Levels levels = find_levels(seen, context);
  Vector shifts(num_arms);
  if (seen.facts.arm_shape == learn::ArmShape::plain) {
    const Vector distances = shrunk_distances(seen, levels);
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      if (!is_fixed(seen, arm)) shifts[arm] = shift_to(seen, {arm}, levels.mean[arm], distances[arm], context);
    }
    return shifts;
  }
  // A shape over the arms survives one shift for all of them; but for the concave one of probabilities, and what is
  // fixed at 0 beside what is moved by an amount.
  const bool amounts = seen.facts.kind == loss::OutcomeKind::real;
  if ((seen.facts.arm_shape == learn::ArmShape::concave && seen.facts.kind == loss::OutcomeKind::binary) ||
      (amounts && seen.facts.control_is_free))
    return shifts;
  std::vector<std::size_t> arms;
  double mean = 0.0, distance = 0.0, variance = 0.0;
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    arms.push_back(arm);
    mean += levels.mean[arm];
    distance += levels.distance[arm];
    variance += levels.variance[arm];
  }
  shifts.assign(num_arms, shift_to(seen, arms, mean, shrunk(distance, variance), context));
  return shifts;
}

// Of each unit's revenue in control, as the calibration will know it.
std::vector<float> base_deviations(const SeenOutcome& seen, learn::Calibration& found) {
  std::vector<float> base(seen.size());
  double sum = 0.0, squares = 0.0;
  for (std::size_t unit = 0; unit < seen.size(); ++unit) {
    base[unit] = static_cast<float>(found.revenue.form.bounded(seen.value(found.revenue, unit, seen.control)));
    sum += seen.sample_weight(unit) * static_cast<double>(base[unit]);
  }
  found.base_mean = sum / seen.total();
  for (std::size_t unit = 0; unit < seen.size(); ++unit) {
    const double distance = static_cast<double>(base[unit]) - found.base_mean;
    squares += seen.sample_weight(unit) * (distance * distance);
  }
  found.base_spread = std::sqrt(squares / seen.total());
  if (!(found.base_spread > 1e-6 * std::abs(found.base_mean))) found.base_spread = 0.0;  // rounding
  for (float& value : base) value = static_cast<float>(found.deviations(static_cast<double>(value)));
  return base;
}

}  // namespace

learn::Calibration fit_calibration(const CalibrationUnits& units, const learn::Predicted& predicted,
                                   const learn::Facts& facts, std::size_t control, bool learns_cost,
                                   core::RunContext& context) {
  learn::Calibration found;
  found.num_units = units.arm.size();
  const auto set_shifts = [&](const SeenOutcome& seen, learn::Calibration::Outcome& outcome) {
    outcome.form = learn::outcome_form(seen.facts);
    outcome.shift = find_shifts(seen, context);
  };
  const SeenOutcome revenue{units, units.revenue, predicted.revenue.view(), facts.revenue, control};
  set_shifts(revenue, found.revenue);
  const std::vector<float> deviations = base_deviations(revenue, found);
  find_slopes(revenue, deviations, found.revenue, context);
  if (learns_cost) {
    const SeenOutcome cost{units, units.cost, predicted.cost.view(), facts.cost, control};
    set_shifts(cost, found.cost);
    find_slopes(cost, deviations, found.cost, context);
  }
  return found;
}

}  // namespace dfcl::train
