// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/dual.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "dfcl/allocate/passes.h"
#include "dfcl/core/parallel.h"

namespace dfcl::allocate {
namespace {

// All quantities here are scaled: uses by CoupledModel::scales, gains by their spread, sums per unit.
struct Scaled {
  const CoupledModel& model;
  double gain_scale = 1.0;  // 0: gains are left out, which asks for feasibility only
  double units = 1.0;
  std::vector<double> limits;  // per unit
};

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

// The softened dual per unit at some multipliers, with slope and curvature.
struct Soft {
  double value = 0.0;
  std::vector<double> slope;
  std::vector<double> curvature;  // limits x limits

  explicit Soft(std::size_t limits = 0) : slope(limits), curvature(limits * limits) {}
  void add(const Soft& other) {
    value += other.value;
    for (std::size_t i = 0; i < slope.size(); ++i) slope[i] += other.slope[i];
    for (std::size_t i = 0; i < curvature.size(); ++i) curvature[i] += other.curvature[i];
  }
};

// One unit's uses of the limits that concern it, arms x local limits.
struct LocalUses {
  std::vector<std::size_t> limits;
  std::vector<double> uses;
  std::vector<double> mean;
};

void add_unit(const Scaled& scaled, std::size_t unit, const std::vector<double>& multipliers, double softness,
              LocalUses& local, std::array<double, kMaxArms>& share, Soft& soft) {
  const CoupledModel& model = scaled.model;
  const std::size_t num_arms = model.num_arms();
  local.limits.clear();
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    if (!model.may_get(unit, arm)) {
      share[arm] = -std::numeric_limits<double>::infinity();
      continue;
    }
    double score = scaled.gain_scale * model.gain(unit, arm);
    model.for_each_use(unit, arm, [&](std::size_t limit, double use) {
      score -= multipliers[limit] * use / model.scales()[limit];
      if (std::find(local.limits.begin(), local.limits.end(), limit) == local.limits.end()) {
        local.limits.push_back(limit);
      }
    });
    share[arm] = score;
    best = std::max(best, score);
  }
  double sum = 0.0;
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    share[arm] = std::exp((share[arm] - best) / softness);
    sum += share[arm];
  }
  soft.value += best + softness * std::log(sum);
  const std::size_t width = local.limits.size();
  local.uses.assign(num_arms * width, 0.0);
  local.mean.assign(width, 0.0);
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    share[arm] /= sum;
    if (share[arm] <= 0.0) continue;
    model.for_each_use(unit, arm, [&](std::size_t limit, double use) {
      const auto place = std::find(local.limits.begin(), local.limits.end(), limit) - local.limits.begin();
      local.uses[arm * width + static_cast<std::size_t>(place)] = use / model.scales()[limit];
    });
    for (std::size_t k = 0; k < width; ++k) local.mean[k] += share[arm] * local.uses[arm * width + k];
  }
  const std::size_t num_limits = model.num_limits();
  for (std::size_t k = 0; k < width; ++k) soft.slope[local.limits[k]] -= local.mean[k];
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    if (share[arm] <= 1e-14 || share[arm] >= 1.0 - 1e-14) continue;
    for (std::size_t k = 0; k < width; ++k) {
      const double weighted = share[arm] / softness * (local.uses[arm * width + k] - local.mean[k]);
      for (std::size_t l = 0; l < width; ++l) {
        soft.curvature[local.limits[k] * num_limits + local.limits[l]] +=
            weighted * (local.uses[arm * width + l] - local.mean[l]);
      }
    }
  }
}

// barrier keeps multipliers above 0; ridge bounds them.
Soft evaluate(const Scaled& scaled, const std::vector<double>& multipliers, double softness, double barrier,
              double ridge, core::RunContext& context) {
  const std::size_t num_limits = scaled.model.num_limits();
  std::vector<Soft> parts(kParts, Soft(num_limits));
  context.pool.run(kParts, [&](std::size_t part) {
    context.check_cancelled();
    LocalUses local;
    std::array<double, kMaxArms> share;
    const std::size_t end = part_begin(scaled.model.num_units(), part + 1);
    for (std::size_t unit = part_begin(scaled.model.num_units(), part); unit < end; ++unit) {
      add_unit(scaled, unit, multipliers, softness, local, share, parts[part]);
    }
  });
  Soft total(num_limits);
  for (const Soft& part : parts) total.add(part);
  total.value /= scaled.units;
  for (double& slope : total.slope) slope /= scaled.units;
  for (double& curvature : total.curvature) curvature /= scaled.units;
  for (std::size_t k = 0; k < num_limits; ++k) {
    const double multiplier = multipliers[k];
    total.value += multiplier * (scaled.limits[k] + 0.5 * ridge * multiplier) - barrier * std::log(multiplier);
    total.slope[k] += scaled.limits[k] - barrier / multiplier + ridge * multiplier;
    total.curvature[k * num_limits + k] += barrier / (multiplier * multiplier) + ridge;
  }
  return total;
}

// Solves curvature * step = -slope by Cholesky factors, with a little added to the diagonal.
std::vector<double> newton_step(const Soft& soft) {
  const std::size_t n = soft.slope.size();
  std::vector<double> factor = soft.curvature;
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
void minimise(const Scaled& scaled, double softness, double barrier, double ridge, std::vector<double>& multipliers,
              core::RunContext& context) {
  constexpr int kMostSteps = 25;
  Soft soft = evaluate(scaled, multipliers, softness, barrier, ridge, context);
  for (int iteration = 0; iteration < kMostSteps; ++iteration) {
    const std::vector<double> step = newton_step(soft);
    double length = 1.0;
    double fall = 0.0;
    for (std::size_t k = 0; k < step.size(); ++k) {
      if (step[k] < 0.0) length = std::min(length, -0.9 * multipliers[k] / step[k]);
      fall -= step[k] * soft.slope[k];
    }
    if (fall < 1e-3 * softness * softness + 1e-15) return;
    bool moved = false;
    for (int halving = 0; halving < 12 && !moved; ++halving, length *= 0.4) {
      std::vector<double> trial = multipliers;
      for (std::size_t k = 0; k < step.size(); ++k) trial[k] += length * step[k];
      Soft there = evaluate(scaled, trial, softness, barrier, ridge, context);
      if (there.value > soft.value - 0.05 * length * fall) continue;
      multipliers = std::move(trial);
      soft = std::move(there);
      moved = true;
    }
    if (!moved) return;
  }
}

// Exact sums of the best scores: with gains G, without them the proof of infeasibility where negative.
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

Scaled scale(const CoupledModel& model) {
  Scaled scaled{model, 1.0 / spread_of_gains(model), std::max(1.0, static_cast<double>(model.num_units())), {}};
  for (std::size_t k = 0; k < model.num_limits(); ++k) {
    scaled.limits.push_back(model.limits()[k] / model.scales()[k] / scaled.units);
  }
  return scaled;
}

std::vector<double> unscaled(const Scaled& scaled, const std::vector<double>& multipliers) {
  std::vector<double> result = multipliers;
  for (std::size_t k = 0; k < result.size(); ++k) {
    result[k] /= scaled.model.scales()[k];
    if (scaled.gain_scale > 0.0) result[k] /= scaled.gain_scale;
  }
  return result;
}

// Is the sum of best scores below zero by more than rounding can explain?
bool is_proof(const CoupledModel& model, const std::vector<double>& multipliers, core::RunContext& context) {
  double size = 0.0;
  for (std::size_t k = 0; k < multipliers.size(); ++k) {
    size += multipliers[k] * (std::abs(model.limits()[k]) + model.scales()[k] * static_cast<double>(model.num_units()));
  }
  return hard_dual(model, multipliers, false, context) < -1e-9 * size;
}

}  // namespace

DualSolution solve_dual(const CoupledModel& model, core::RunContext& context) {
  constexpr double kFirstSoftness = 0.3;
  constexpr double kLastSoftness = 2e-5;
  const Scaled scaled = scale(model);
  std::vector<double> multipliers(model.num_limits(), 0.5);
  DualSolution solution;
  solution.multipliers.assign(model.num_limits(), 0.0);
  solution.bound = hard_dual(model, solution.multipliers, true, context);
  for (double softness = kFirstSoftness; softness > kLastSoftness; softness *= 0.35) {
    minimise(scaled, softness, 0.02 * softness, 0.0, multipliers, context);
    const std::vector<double> candidate = unscaled(scaled, multipliers);
    if (is_proof(model, candidate, context)) {
      solution.infeasible = true;
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

bool prove_infeasible(const CoupledModel& model, core::RunContext& context) {
  Scaled scaled = scale(model);
  scaled.gain_scale = 0.0;
  std::vector<double> multipliers(model.num_limits(), 0.5);
  for (double softness = 0.3; softness > 1e-4; softness *= 0.2) {
    minimise(scaled, softness, 0.02 * softness, 1e-2, multipliers, context);
    if (is_proof(model, unscaled(scaled, multipliers), context)) return true;
  }
  return false;
}

}  // namespace dfcl::allocate
