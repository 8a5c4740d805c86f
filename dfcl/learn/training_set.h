// SPDX-License-Identifier: Apache-2.0
//
// All that a learner may know of a trial: features as they were read, the arm each unit got, what it earned and cost in
// the study's currency and on the scales of the losses, which units train and which validate, and what is known about
// the outcomes beforehand. Views into memory of the caller; copying one is cheap.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dfcl/core/column.h"
#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/features.h"
#include "dfcl/data/trial.h"
#include "dfcl/learn/outcome_facts.h"
#include "dfcl/learn/predictor.h"
#include "dfcl/loss/cost_rule.h"
#include "dfcl/loss/loss.h"

namespace dfcl::learn {

// What units earn and cost on the whole, the mean over the arms, for learners that learn only how arms differ. Of the
// training units, in their order, by predictors that were not fitted on the unit; of other units, by the mean of the
// predictors.
struct Base {
  std::vector<WeightedPredictor> predictors;
  std::vector<float> revenue;  // per training unit, in the study's currency
  std::vector<float> cost;
};

struct TrainingSet {
  const data::Features* features = nullptr;  // of all units of the trial
  const data::Arms* arms = nullptr;

  // One entry for each unit of the trial.
  std::span<const std::uint8_t> arm = {};
  std::span<const float> revenue = {};  // in the study's currency
  std::span<const float> cost = {};
  std::span<const float> scaled_revenue = {};  // as losses see it
  std::span<const float> scaled_cost = {};
  std::span<const float> weight = {};              // 1 / probability of the arm received, times the sample weight
  std::span<const float> sample = {};              // sample weights, of mean 1 where they train; empty: all alike
  bool has_propensities = false;                   // they were given; else the probabilities are the shares of the arms
  std::span<const std::uint32_t> cluster = {};     // empty: each unit its own
  std::span<const std::uint8_t> is_training = {};  // one byte a unit: what encodings and bins may be fitted on

  std::span<const std::uint32_t> rows = {};             // the units to learn from: all that train, or some of them
  std::span<const std::uint32_t> validation_rows = {};  // may be empty

  Facts facts = {};
  Scales scales = {};
  // Where costs are known: how they come about, scaled. Nothing is to be learned of them then, but for the outcome that
  // makes a price due, which takes the place of cost in all columns above.
  loss::CostRule cost_rule = {};
  bool learns_cost = true;
  // units x arms, scaled, by predictors not fitted on the unit (eq. 5b); or empty.
  core::MatrixView<const float> nuisance_revenue = {};
  core::MatrixView<const float> nuisance_cost = {};
  const Base* base = nullptr;  // for learners that ask for one

  std::size_t num_units() const { return arm.size(); }
  std::size_t num_arms() const { return arms->size(); }
  Schema schema() const { return {*arms, features->columns}; }
  FeatureTile tile(std::span<const std::uint32_t> of_rows) const { return {features->values.view(), of_rows}; }
};

// Outcomes of chosen units side by side, scaled; cost is what the unit cost, whatever was learned. Memory: 13 bytes a
// unit.
struct SeenUnits {
  core::Column<std::uint8_t> arm;
  core::Column<float> revenue;
  core::Column<float> cost;
  core::Column<float> weight;
  core::Column<std::uint32_t> cluster;  // empty where there are none
  core::Column<float> sample;           // likewise
};
SeenUnits seen_units(const TrainingSet& set, std::span<const std::uint32_t> rows, const core::RunContext& context);
// The same with the columns that are learned from.
SeenUnits learned_units(const TrainingSet& set, std::span<const std::uint32_t> rows, const core::RunContext& context);

// Predictions of chosen units, each rows x arms.
struct Predicted {
  core::Matrix<float> revenue;
  core::Matrix<float> cost;
};
// On the scales of the set, costs by what is known about them.
Predicted predict_scaled(const Predictor& predictor, const TrainingSet& set, std::span<const std::uint32_t> rows,
                         core::RunContext& context);

// The same as it was learned: in the place of cost, perhaps an outcome.
Predicted predict_learned(const Predictor& predictor, const TrainingSet& set, std::span<const std::uint32_t> rows,
                          core::RunContext& context);
void apply_rule(const loss::CostRule& rule, Predicted& predicted);

}  // namespace dfcl::learn
