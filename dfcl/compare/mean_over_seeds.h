// SPDX-License-Identifier: Apache-2.0
//
// What a method is worth, whatever the luck of one training: the figures of deployed plans as means over training
// seeds, with intervals that hold both what the luck of the trial and what the luck of training does to the mean. Time
// and memory: those of the figures.
#pragma once

#include <span>

#include "dfcl/evaluate/evaluation.h"
#include "dfcl/evaluate/words.h"

namespace dfcl::compare {

// first: the evaluation of the first seed's models, with intervals over test units. others: of the other seeds' models,
// on the same rows with the same nuisance, with intervals of any kind; a model is found by its name, and may be
// missing. The variance of a mean is the largest over units of any seed's figure (the mean's own is no larger, however
// the seeds go together) plus that over seeds by Student's t. Answers and sentences of plans and of differences from
// baselines follow; all else is as in `first`.
evaluate::Evaluation mean_over_seeds(const evaluate::Evaluation& first, std::span<const evaluate::Evaluation> others,
                                     const evaluate::Words& words);

}  // namespace dfcl::compare
