// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/dual.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dfcl/allocate/soft_dual.h"
#include "dfcl/core/parallel.h"

namespace dfcl::allocate {
namespace {

// Bounds of scaled multipliers.
struct Bounds {
  std::vector<double> low, high;

  double clamped(std::size_t k, double multiplier) const {
    return std::clamp(multiplier, std::max(low[k], 1e-300), high[k]);
  }
  // A multiplier at its bound that the slope would push out.
  bool holds(std::size_t k, double multiplier, double slope) const {
    return (multiplier >= high[k] && slope < 0.0) || (low[k] > 0.0 && multiplier <= low[k] && slope > 0.0);
  }
};

// Solves curvature * step = -slope by Cholesky factors, with a little added to the diagonal. Multipliers that are held
// at a bound do not move.
std::vector<double> newton_step(Soft soft, const std::vector<double>& multipliers, const Bounds& bounds) {
  const std::size_t n = soft.slope.size();
  for (std::size_t k = 0; k < n; ++k) {
    if (!bounds.holds(k, multipliers[k], soft.slope[k])) continue;
    for (std::size_t l = 0; l < n; ++l) soft.curvature[k * n + l] = soft.curvature[l * n + k] = 0.0;
    soft.curvature[k * n + k] = 1.0;
    soft.slope[k] = 0.0;
  }
  std::vector<double>& factor = soft.curvature;
  double largest = 0.0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, factor[i * n + i]);
  for (std::size_t i = 0; i < n; ++i) factor[i * n + i] += 1e-12 * largest + 1e-300;
  std::vector<double> step(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = factor[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= factor[i * n + k] * factor[j * n + k];
      factor[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-14 * largest + 1e-300)) : sum / factor[j * n + j];
    }
    double sum = -soft.slope[i];
    for (std::size_t k = 0; k < i; ++k) sum -= factor[i * n + k] * step[k];
    step[i] = sum / factor[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    double sum = step[i];
    for (std::size_t k = i + 1; k < n; ++k) sum -= factor[k * n + i] * step[k];
    step[i] = sum / factor[i * n + i];
  }
  return step;
}

// Newton steps from `multipliers` until the softened dual hardly falls.
void minimise(const CoupledModel& model, const SoftTerms& terms, const Bounds& bounds, std::vector<double>& multipliers,
              core::RunContext& context) {
  constexpr int kMostSteps = 25;
  Soft soft = soft_dual(model, multipliers, terms, context);
  for (int iteration = 0; iteration < kMostSteps; ++iteration) {
    const std::vector<double> step = newton_step(soft, multipliers, bounds);
    double length = 1.0;
    double fall = 0.0;
    for (std::size_t k = 0; k < step.size(); ++k) {
      if (step[k] < 0.0) length = std::min(length, -0.9 * multipliers[k] / step[k]);
      fall -= step[k] * soft.slope[k];
    }
    if (fall < 1e-3 * terms.softness * terms.softness + 1e-15) return;
    bool moved = false;
    for (int halving = 0; halving < 12 && !moved; ++halving, length *= 0.4) {
      std::vector<double> trial = multipliers;
      for (std::size_t k = 0; k < step.size(); ++k) trial[k] = bounds.clamped(k, trial[k] + length * step[k]);
      Soft there = soft_dual(model, trial, terms, context);
      double expected = 0.0;  // fall along the way that the bounds leave
      for (std::size_t k = 0; k < step.size(); ++k) expected -= (trial[k] - multipliers[k]) * soft.slope[k];
      if (!(expected > 0.0 && there.value <= soft.value - 0.05 * expected)) continue;
      multipliers = std::move(trial);
      soft = std::move(there);
      moved = true;
    }
    if (!moved) return;
  }
}

// Exact maxima: with gains G, without them the proof of infeasibility where negative.
double hard_dual(const CoupledModel& model, const std::vector<double>& multipliers, bool with_gains,
                 core::RunContext& context) {
  constexpr std::size_t kChunkUnits = 8192;
  double dual = core::sum_chunks(
      context, model.num_units(), kChunkUnits, 0.0,
      [&](std::size_t begin, std::size_t end) {
        double sum = 0.0;
        for (std::size_t unit = begin; unit < end; ++unit) {
          double best = -std::numeric_limits<double>::infinity();
          for (std::size_t arm = 0; arm < model.num_arms(); ++arm) {
            if (!model.may_get(unit, arm)) continue;
            const double score = model.score(unit, arm, multipliers) - (with_gains ? 0.0 : model.gain(unit, arm));
            best = std::max(best, score);
          }
          sum += best;
        }
        return sum;
      },
      [](double& total, double part) { total += part; });
  for (std::size_t k = 0; k < multipliers.size(); ++k) dual += multipliers[k] * model.limits()[k];
  return dual;
}

// Scaled multipliers are in units of the spread of gains per typical use, or of any amount per use without gains.
std::vector<double> scaled(const CoupledModel& model, std::vector<double> multipliers) {
  for (std::size_t k = 0; k < multipliers.size(); ++k) multipliers[k] *= model.scales()[k] / model.gain_spread();
  return multipliers;
}
std::vector<double> unscaled(const CoupledModel& model, std::vector<double> multipliers, bool with_gains) {
  for (std::size_t k = 0; k < multipliers.size(); ++k)
    multipliers[k] *= (with_gains ? model.gain_spread() : 1.0) / model.scales()[k];
  return multipliers;
}

Bounds bounds_of(const CoupledModel& model, const DualOptions& options) {
  const std::size_t n = model.num_limits();
  if (options.high.empty())
    return {std::vector<double>(n, 0.0), std::vector<double>(n, std::numeric_limits<double>::infinity())};
  return {scaled(model, options.low), scaled(model, options.high)};
}

}  // namespace

bool is_proof(const CoupledModel& model, const std::vector<double>& multipliers, core::RunContext& context) {
  double size = 0.0;
  for (std::size_t k = 0; k < multipliers.size(); ++k) {
    size += multipliers[k] * (std::abs(model.limits()[k]) + model.scales()[k] * static_cast<double>(model.num_units()));
  }
  return hard_dual(model, multipliers, false, context) < -1e-9 * size;
}

DualSolution solve_dual(const CoupledModel& model, const DualOptions& options, core::RunContext& context) {
  const Bounds bounds = bounds_of(model, options);
  const bool knows_start = !options.start.empty();
  std::vector<double> multipliers =
      knows_start ? scaled(model, options.start) : std::vector<double>(model.num_limits(), 0.5);
  for (std::size_t k = 0; k < multipliers.size(); ++k) multipliers[k] = bounds.clamped(k, multipliers[k]);
  DualSolution solution;
  solution.multipliers =
      knows_start ? unscaled(model, multipliers, true) : std::vector<double>(model.num_limits(), 0.0);
  solution.bound = hard_dual(model, solution.multipliers, true, context);
  for (double softness = options.first_softness; softness > options.last_softness; softness *= 0.35) {
    minimise(model, {.softness = softness, .barrier = 0.02 * softness}, bounds, multipliers, context);
    const std::vector<double> candidate = unscaled(model, multipliers, true);
    if (options.seeks_proof && is_proof(model, candidate, context)) {
      solution.proof = candidate;
      return solution;
    }
    const double bound = hard_dual(model, candidate, true, context);
    if (bound < solution.bound) {
      solution.bound = bound;
      solution.multipliers = candidate;
    }
  }
  return solution;
}

std::vector<double> find_proof(const CoupledModel& model, core::RunContext& context) {
  const Bounds bounds = bounds_of(model, {});
  std::vector<double> multipliers(model.num_limits(), 0.5);
  for (double softness = 0.3; softness > 1e-4; softness *= 0.2) {
    const SoftTerms terms{.softness = softness, .barrier = 0.02 * softness, .ridge = 1e-2, .with_gains = false};
    minimise(model, terms, bounds, multipliers, context);
    std::vector<double> candidate = unscaled(model, multipliers, false);
    if (is_proof(model, candidate, context)) return candidate;
  }
  return {};
}

}  // namespace dfcl::allocate
