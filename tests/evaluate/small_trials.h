// SPDX-License-Identifier: Apache-2.0
//
// Small trials whose truth is known, for tests: two features in [0, 1), three arms with unequal shares, noisy revenue
// and cost. Predictions are any function of the features.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/random.h"
#include "dfcl/data/trial.h"
#include "dfcl/evaluate/estimators/estimators.h"
#include "dfcl/evaluate/estimators/trial_rows.h"

namespace dfcl::evaluate {

inline constexpr std::size_t kSmallArms = 3;

struct Expected {
  double revenue;
  double cost;
};
// Of a unit with features (x, y) under an arm.
using Response = std::function<Expected(double, double, std::size_t)>;

// Symmetric in x and y.
inline Expected true_response(double x, double y, std::size_t arm) {
  const double dose = static_cast<double>(arm);
  return {1.0 + x + y + dose * (0.3 + x * y) - 0.1 * dose * dose, dose * (0.3 + 0.2 * (x + y))};
}

struct SmallTrial {
  data::Trial trial;
  std::vector<double> x, y;
};

struct SmallTrialOptions {
  std::size_t num_units = 400;
  std::size_t units_per_cluster = 1;  // 1: no clusters
  bool propensities = false;
  bool zero_one = false;  // outcomes are 0 or 1
  bool tilted = false;    // units with a large x are treated a little more often, and nobody knows how much
};

// Noise and features depend on (seed, unit) only.
inline SmallTrial small_trial(std::uint64_t seed, const SmallTrialOptions& options = {}) {
  SmallTrial made;
  data::Trial& trial = made.trial;
  trial.arms.labels = {"0", "1", "2"};
  trial.arms.ordered = true;
  const std::size_t num_units = options.num_units;
  trial.ids = data::RowNumbers{1, num_units};
  const double shares[kSmallArms] = {0.5, 0.3, 0.2};
  double shared_noise = 0.0;
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    core::RandomStream stream(seed, core::stream_purpose("small trial"), unit);
    const double x = stream.uniform();
    const double y = stream.uniform();
    const double draw = stream.uniform();
    // With propensities, units with a large x are treated more often.
    const double control = options.propensities ? 0.6 - 0.3 * x : options.tilted ? 0.53 - 0.06 * x : shares[0];
    const double rest = (1.0 - control) / (shares[1] + shares[2]);
    const double probability[kSmallArms] = {control, shares[1] * rest, shares[2] * rest};
    const std::size_t arm = draw < probability[0] ? 0 : (draw < probability[0] + probability[1] ? 1 : 2);
    if (unit % options.units_per_cluster == 0) shared_noise = options.units_per_cluster > 1 ? stream.normal() : 0.0;
    const Expected expected = true_response(x, y, arm);
    double revenue = expected.revenue + 0.7 * shared_noise + stream.normal();
    double cost = expected.cost * 2.0 * stream.uniform();
    if (options.zero_one) {
      revenue = stream.bernoulli(0.1 * expected.revenue) ? 1.0 : 0.0;
      cost = stream.bernoulli(0.4 * expected.cost) ? 1.0 : 0.0;
    }
    made.x.push_back(x);
    made.y.push_back(y);
    trial.arm.push_back(static_cast<std::uint8_t>(arm));
    trial.revenue.push_back(static_cast<float>(revenue));
    trial.cost.push_back(static_cast<float>(cost));
    if (options.propensities) trial.propensity.push_back(static_cast<float>(probability[arm]));
    if (options.units_per_cluster > 1)
      trial.cluster.push_back(static_cast<std::uint32_t>(unit / options.units_per_cluster));
    trial.split.push_back(data::Split::test);
  }
  if (options.units_per_cluster > 1) trial.num_clusters = trial.cluster.back() + 1;
  for (const char* name : {"x", "y"})
    trial.features.columns.push_back({.name = name, .categorical = false, .levels = {}});
  trial.features.values = core::Matrix<float>(num_units, 2);
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    trial.features.values(unit, 0) = static_cast<float>(made.x[unit]);
    trial.features.values(unit, 1) = static_cast<float>(made.y[unit]);
  }
  return made;
}

struct Predicted {
  core::Matrix<float> revenue;
  core::Matrix<float> cost;
  Outcomes outcomes() const { return {revenue.view(), cost.view()}; }
};

inline Predicted predict(const std::vector<double>& x, const std::vector<double>& y, const Response& response) {
  Predicted predicted{core::Matrix<float>(x.size(), kSmallArms), core::Matrix<float>(x.size(), kSmallArms)};
  for (std::size_t unit = 0; unit < x.size(); ++unit) {
    for (std::size_t arm = 0; arm < kSmallArms; ++arm) {
      const Expected expected = response(x[unit], y[unit], arm);
      predicted.revenue(unit, arm) = static_cast<float>(expected.revenue);
      predicted.cost(unit, arm) = static_cast<float>(expected.cost);
    }
  }
  return predicted;
}

// Models that see one feature each: of equal quality, and wrong in different places.
inline Expected sees_x(double x, double, std::size_t arm) { return true_response(x, 0.5, arm); }
inline Expected sees_y(double, double y, std::size_t arm) { return true_response(0.5, y, arm); }

// What choosing by a response at a multiplier truly earns and costs, over a grid of features.
inline Expected true_value(const Response& response, double multiplier) {
  constexpr std::size_t kGrid = 60;
  Expected sum{0.0, 0.0};
  for (std::size_t i = 0; i < kGrid; ++i) {
    for (std::size_t j = 0; j < kGrid; ++j) {
      const double x = (static_cast<double>(i) + 0.5) / kGrid;
      const double y = (static_cast<double>(j) + 0.5) / kGrid;
      std::size_t best = 0;
      double most = -1e300;
      for (std::size_t arm = 0; arm < kSmallArms; ++arm) {
        const Expected expected = response(x, y, arm);
        const double score = expected.revenue - multiplier * expected.cost;
        if (score > most) {
          most = score;
          best = arm;
        }
      }
      const Expected truth = true_response(x, y, best);
      sum.revenue += truth.revenue / (kGrid * kGrid);
      sum.cost += truth.cost / (kGrid * kGrid);
    }
  }
  return sum;
}

}  // namespace dfcl::evaluate
