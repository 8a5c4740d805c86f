// SPDX-License-Identifier: Apache-2.0
//
// `auto`: a stack of methods (docs/method.md, "The stack"). Members are fitted for three folds, or, where a method
// predicts its own training units out of sample, once (fold_fits.h); weighed by what they predict of units they have
// not seen (stack_judge.h); and those with weight are fitted once more, on all training units (docs/decisions/0063).
// Where the seconds allowed are over, members that are not finished are left out, but for the first. Time and memory:
// those of the members' fits, one after the other, and of the judge, with calibrated copies of what members predict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"
#include "dfcl/learn/mean_effect.h"
#include "dfcl/learn/predictor.h"
#include "dfcl/learn/training_set.h"
#include "dfcl/model/training_facts.h"
#include "dfcl/train/fold_fits.h"
#include "dfcl/train/stack_judge.h"

namespace dfcl::train {

// The study's [method] members, else those of the table of methods. Throws Error of kind usage for what can be none.
std::vector<const Method*> stack_members(const data::Study& study);

struct StackRequest {
  const data::Trial& trial;
  const data::Study& study;
  const Preparation& prepared;  // of two-stage learning
  const HeldUnits& units;       // enough of them
  const HeldOutcomes& outcomes;
  double seconds_limit = 0.0;  // over all runs that the checkpoint has seen; 0: none
  std::string checkpoint_folder = {};
  std::function<void(const learn::EpochRecord&)> on_epoch = {};
};

struct StackResult {
  std::vector<learn::WeightedPredictor> predictors;
  std::optional<learn::MeanEffect> mean_effect;
  learn::Predicted unseen;  // held units x arms, as learned: by parts that did not see the unit
  model::Stack facts;
  std::vector<const Method*> members;  // that were weighed
  std::vector<learn::EpochRecord> record;
};

bool is_stack_calibrated(const data::Study& study);

StackResult fit_stack(const StackRequest& request, core::RunContext& context);

}  // namespace dfcl::train
