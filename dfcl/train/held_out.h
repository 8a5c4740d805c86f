// SPDX-License-Identifier: Apache-2.0
//
// Does a model predict units that it has not seen better than the means of the arms do? Mean prediction losses (eq. 4,
// 4b) of scaled outcomes, for each outcome apart. One pass over the units; no memory to speak of.
#pragma once

#include <span>

#include "dfcl/core/run_context.h"
#include "dfcl/learn/training_set.h"
#include "dfcl/model/training_facts.h"
#include "dfcl/train/folds.h"
#include "dfcl/train/stack_judge.h"

namespace dfcl::train {

// The held units, by predictions that did not see them; means are those of the other folds. predicted: as learned, in
// the study's currency.
model::HeldOut out_of_fold_loss(const learn::TrainingSet& set, const HeldUnits& units, const HeldOutcomes& outcomes,
                                const learn::Predicted& predicted, core::RunContext& context);

// The validation units of the set, by a model that did not learn from them; means are those of the training units.
model::HeldOut validation_loss(const learn::TrainingSet& set, const learn::Predicted& predicted,
                               core::RunContext& context);

}  // namespace dfcl::train
