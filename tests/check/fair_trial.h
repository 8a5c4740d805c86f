// SPDX-License-Identifier: Apache-2.0
//
// Fair trials for tests: features of every awkward kind (heavy tails, rare flags, categories with rare levels, missing
// values, copies), arms drawn independently of them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "dfcl/core/random.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"

namespace dfcl::check {

inline void draw_arms(data::Trial& trial, const std::vector<double>& shares, std::uint64_t seed) {
  core::RandomStream random(seed, core::stream_purpose("test arms"), 0);
  trial.arm.resize(trial.features.num_units());
  for (auto& arm : trial.arm) {
    double left = random.uniform();
    std::size_t chosen = 0;
    while (chosen + 1 < shares.size() && left >= shares[chosen]) left -= shares[chosen++];
    arm = static_cast<std::uint8_t>(chosen);
  }
}

inline double feature_value(std::size_t feature, double previous, core::RandomStream& random) {
  const double missing = std::numeric_limits<double>::quiet_NaN();
  switch (feature % 9) {
    case 0: return random.normal();
    case 1: return std::exp(2.0 * random.normal());                                         // heavy tail
    case 2: return random.bernoulli(0.002 * static_cast<double>(feature + 1)) ? 1.0 : 0.0;  // rare flag
    case 3: return static_cast<double>(random.poisson(0.5));
    case 4: return random.bernoulli(0.1) ? missing : 100.0 + 5.0 * random.normal();
    case 5: return std::floor(6.0 * std::pow(random.uniform(), 3.0));  // category of six, the last ones rare
    case 6: return random.bernoulli(0.9) ? 0.0 : std::exp(3.0 * random.normal());  // mostly zero, then huge
    case 7: return previous;                                                       // a copy
    default: return previous + 0.1 * random.normal();                              // nearly a copy
  }
}

inline data::Trial fair_trial(std::size_t num_units, std::size_t num_features, const std::vector<double>& shares,
                              std::uint64_t seed) {
  data::Trial trial;
  for (std::size_t arm = 0; arm < shares.size(); ++arm) trial.arms.labels.push_back(std::to_string(arm));
  for (std::size_t feature = 0; feature < num_features; ++feature) {
    data::FeatureColumn column{.name = fmt::format("x{}", feature), .categorical = feature % 9 == 5, .levels = {}};
    if (column.categorical) column.levels = {data::kPooledLevel, "a", "b", "c", "d", "e"};
    trial.features.columns.push_back(column);
  }
  trial.features.values = core::Matrix<float>(num_units, num_features);
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    core::RandomStream random(seed, core::stream_purpose("test features"), unit);
    double previous = 0.0;
    for (std::size_t feature = 0; feature < num_features; ++feature) {
      previous = feature_value(feature, previous, random);
      trial.features.values(unit, feature) = static_cast<float>(previous);
    }
  }
  draw_arms(trial, shares, seed);
  core::RandomStream random(seed, core::stream_purpose("test outcomes"), 0);
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    trial.revenue.push_back(static_cast<float>(1.0 + 0.1 * trial.arm[unit] + random.exponential()));
    trial.cost.push_back(0.05f * static_cast<float>(trial.arm[unit]) * trial.revenue.back());
  }
  trial.split.assign(num_units, data::Split::train);
  trial.ids = data::RowNumbers{1, num_units};
  return trial;
}

inline data::Study study_with_shares(const std::vector<double>& shares) {
  data::Study study;
  study.columns.id = "id";
  for (std::size_t arm = 0; arm < shares.size(); ++arm) study.arms.share[std::to_string(arm)] = shares[arm];
  return study;
}

// Every row of the trial `times` times, one after the other.
inline data::Trial repeat_rows(const data::Trial& trial, std::size_t times) {
  data::Trial repeated;
  repeated.arms = trial.arms;
  repeated.features.columns = trial.features.columns;
  repeated.features.values = core::Matrix<float>(trial.num_units() * times, trial.features.num_features());
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    for (std::size_t i = 0; i < times; ++i) {
      const auto from = trial.features.values.row(unit);
      std::copy(from.begin(), from.end(), repeated.features.values.row(unit * times + i).begin());
      repeated.arm.push_back(trial.arm[unit]);
      repeated.revenue.push_back(trial.revenue[unit]);
      repeated.cost.push_back(trial.cost[unit]);
      repeated.split.push_back(data::Split::train);
    }
  }
  repeated.ids = data::RowNumbers{1, repeated.arm.size()};
  return repeated;
}

}  // namespace dfcl::check
