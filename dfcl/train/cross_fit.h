// SPDX-License-Identifier: Apache-2.0
//
// Predictions of training units by a predictor that was not fitted on them: two fits, each on half of the units (whole
// clusters, where there are any), predict the other half. Doubly robust decision losses (eq. 5b) and learners on a base
// need them. Time: one training in all; memory: 8 bytes a unit and arm of a half, of all units for the losses.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/learn/learner.h"

namespace dfcl::train {

// 0 or 1. Units that belong together are in one half.
std::size_t half_of(const learn::TrainingSet& set, std::uint32_t row);

// What a caller adds to a stage: checkpoints, log, progress. May be empty.
using FillStage = std::function<void(learn::Stage& stage, const std::string& name)>;

// A unit's place among the rows, and what all arms would earn and cost, scaled.
using TakePrediction =
    std::function<void(std::size_t place, std::span<const float> revenue, std::span<const float> cost)>;

struct CrossFit {
  const learn::Learner& learner;
  const learn::TrainingSet& set;  // its rows are those to predict for
  const learn::Objective& objective;
  std::size_t epochs = 0;
  std::size_t first_member = 0;  // the number of the first fit, which its random numbers follow
  std::string name;              // of the checkpoints, with -0 and -1
  std::string purpose;           // what for, and what instead, where there are too few units
  std::string hint;
  bool as_learned = false;  // predictions without what is known about costs
};

// Throws Error of kind data where a half has no units.
std::vector<learn::Fit> cross_fit(const CrossFit& fit, const FillStage& fill, const TakePrediction& take,
                                  core::RunContext& context);

struct Nuisance {
  core::Matrix<float> revenue;  // units x arms, scaled; 0 for units that do not train
  core::Matrix<float> cost;
};
// For doubly robust decision losses. objective: of prediction.
Nuisance fit_nuisance(const learn::Learner& learner, const learn::TrainingSet& set, const learn::Objective& objective,
                      std::size_t epochs, std::size_t first_member, const FillStage& fill, core::RunContext& context);

// The same by fits that are there: what each predicts of units it has not seen.
struct UnseenBy {
  std::shared_ptr<const learn::Predictor> predictor;
  std::span<const std::uint32_t> rows;  // of the trial
  std::vector<std::uint32_t> places;    // theirs among the units of a base
};
Nuisance nuisance_by(std::span<const UnseenBy> fits, const learn::TrainingSet& set, core::RunContext& context);
// The base of so many units: the mean of what these predict.
learn::Base base_by(std::span<const UnseenBy> fits, std::size_t num_units, const learn::TrainingSet& set,
                    core::RunContext& context);

struct BaseFit {
  learn::Base base;
  std::vector<learn::EpochRecord> record;
};
// For learners on a base.
BaseFit fit_base(const learn::Learner& learner, const learn::TrainingSet& set, const learn::Objective& objective,
                 std::size_t epochs, const FillStage& fill, core::RunContext& context);

}  // namespace dfcl::train
