// SPDX-License-Identifier: Apache-2.0
//
// Weighs predictions of the same units into one (docs/method.md, "The stack"), whatever made them: methods fitted for
// folds, or fits on shards of a trial. Members are judged as they are once calibrated: one whose effects are too small
// is no worse for it. They are mixed as they came, with weights that give the same effects but for what all share,
// which is calibrated in the end. Time: that of the judge (stack_judge.h). Memory: a copy of every member's
// predictions where they are calibrated, and the judge's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/trial.h"
#include "dfcl/learn/mean_effect.h"
#include "dfcl/learn/training_set.h"
#include "dfcl/model/training_facts.h"
#include "dfcl/train/folds.h"
#include "dfcl/train/preparation.h"
#include "dfcl/train/stack_judge.h"

namespace dfcl::train {

struct MemberPredictions {
  std::string name;
  const learn::Predicted* unseen = nullptr;  // held units x arms, as learned, by a fit that did not see them
};

struct WeighedMembers {
  std::vector<double> weights;                   // of the members, then of the mean effect; they sum to one
  model::Stack facts;                            // without seconds
  learn::Predicted unseen;                       // held units x arms: the mixture
  std::optional<learn::MeanEffect> mean_effect;  // where it has weight
};

WeighedMembers weigh_members(const data::Trial& trial, const Preparation& prepared, const HeldUnits& units,
                             const HeldOutcomes& outcomes, const std::vector<MemberPredictions>& members,
                             bool calibrated, core::RunContext& context);

}  // namespace dfcl::train
