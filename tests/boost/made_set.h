// SPDX-License-Identifier: Apache-2.0
//
// Small training sets for the tests of boosting, with room to change anything before fitting.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "dfcl/boost/boost_learner.h"
#include "dfcl/boost/boost_predictor.h"
#include "dfcl/core/random.h"
#include "dfcl/learn/learner.h"

namespace dfcl::boost {

struct MadeSet {
  data::Features features;
  data::Arms arms;
  std::vector<std::uint8_t> arm, is_training;
  std::vector<float> revenue, cost, weight, sample;
  std::vector<std::uint32_t> rows, validation_rows, cluster;
  learn::Facts facts;
  bool learns_cost = true;

  std::size_t num_units() const { return arm.size(); }

  // Outcomes are learned as they are: scales are 1.
  learn::TrainingSet set() const {
    learn::TrainingSet set;
    set.features = &features;
    set.arms = &arms;
    set.arm = arm;
    set.revenue = set.scaled_revenue = revenue;
    set.cost = set.scaled_cost = cost;
    set.weight = weight;
    set.sample = sample;
    set.cluster = cluster;
    set.is_training = is_training;
    set.rows = rows;
    set.validation_rows = validation_rows;
    set.facts = facts;
    set.learns_cost = learns_cost;
    return set;
  }
};

using Mean = std::function<double(std::span<const float>, std::size_t arm)>;

// Uniform features in (-1, 1), arms by chance, counts of mean revenue(x, arm) and cost(x, arm). The last fifth
// validates.
inline MadeSet made_set(std::size_t num_units, std::size_t num_features, std::size_t num_arms, std::uint64_t seed,
                        const Mean& revenue, const Mean& cost) {
  MadeSet made;
  for (std::size_t feature = 0; feature < num_features; ++feature)
    made.features.columns.push_back({.name = fmt::format("x{}", feature), .categorical = false, .levels = {}});
  made.features.values = core::Matrix<float>(num_units, num_features);
  for (std::size_t arm = 0; arm < num_arms; ++arm) made.arms.labels.push_back(fmt::format("{}", arm));
  made.arms.ordered = true;
  made.facts.revenue = {.num_arms = num_arms, .kind = loss::OutcomeKind::non_negative};
  made.facts.cost = made.facts.revenue;
  for (std::uint32_t unit = 0; unit < num_units; ++unit) {
    core::RandomStream random(seed, core::stream_purpose("made set"), unit);
    for (float& value : made.features.values.row(unit)) value = static_cast<float>(random.uniform(-1.0, 1.0));
    const std::size_t arm = random.below(static_cast<std::uint32_t>(num_arms));
    const auto x = std::as_const(made.features.values).row(unit);
    const auto count = [&](double mean) {  // of Poisson
      double left = random.uniform();
      double mass = std::exp(-mean);
      float number = 0.0f;
      while (left > mass && number < 1000.0f) {
        left -= mass;
        number += 1.0f;
        mass *= mean / static_cast<double>(number);
      }
      return number;
    };
    made.arm.push_back(static_cast<std::uint8_t>(arm));
    made.revenue.push_back(count(revenue(x, arm)));
    made.cost.push_back(count(cost(x, arm)));
    made.weight.push_back(static_cast<float>(num_arms));
    const bool trains = unit < num_units * 4 / 5;
    made.is_training.push_back(trains ? 1 : 0);
    (trains ? made.rows : made.validation_rows).push_back(unit);
  }
  return made;
}

inline data::Study small_study() {
  data::Study study;
  study.boost.trees = 60;
  study.boost.leaves = 8;
  study.boost.min_leaf = 20;
  study.boost.learning_rate = 0.2;
  return study;
}

inline learn::Fit fitted(const MadeSet& made, const data::Study& study, int threads = 2, std::uint64_t seed = 1) {
  core::RunContext context(threads, seed);
  const learn::TrainingSet set = made.set();
  const auto learner = make_boost_learner({.study = study, .set = set, .steps = {}, .seed = seed}, context);
  return learner->fit(set, learn::Objective(), learn::Stage(), context);
}

inline const BoostParts& parts_of(const learn::Fit& fit) {
  return dynamic_cast<const BoostPredictor&>(*fit.predictor).parts();
}

inline learn::Predicted predicted(const learn::Predictor& predictor, const MadeSet& made, int threads = 2) {
  core::RunContext context(threads);
  learn::Predicted result{core::Matrix<float>(made.num_units(), made.arms.size()),
                          core::Matrix<float>(made.num_units(), made.arms.size())};
  predictor.predict({made.features.values.view()}, {result.revenue.view(), result.cost.view()}, context);
  return result;
}

}  // namespace dfcl::boost
