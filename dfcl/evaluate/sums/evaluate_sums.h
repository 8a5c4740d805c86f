// SPDX-License-Identifier: Apache-2.0
//
// What plans are worth where the rows are on many machines: deployed plans, baselines, their differences at a common
// price and the verdict, as evaluate.h judges them, from sums over all rows. The plans are the same to the last unit;
// figures are those of evaluate() but for the rounding of contributions (judged_sums.h) and of sums: about 1e-9 of
// them. Any cut of the rows gives the same figures to the last bit. What needs rows in one place is left out. Passes
// over the rows: for each model and for random one that builds its path and one or two a budget, then one for all sums.
// Memory here: the sums.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "dfcl/data/arms.h"
#include "dfcl/evaluate/evaluate.h"
#include "dfcl/evaluate/sums/trial_facts.h"

namespace dfcl::evaluate {

// Takes a task (JudgeTask::to_bytes) to all blocks of rows, or, for a sample, to some, and returns what was found in
// all of them (JudgePart::to_bytes). May be asked for the same task again.
using TaskRunner = std::function<std::string(const std::string& task)>;

struct SummedInput {
  data::Arms arms;
  data::CostFacts cost_facts;
  const TrialFacts& facts;
  // Without predictions: those are in the blocks, in the order of the models; the nuisance, where the estimator needs
  // one, is the last.
  std::vector<JudgedModel> models;
  std::string nuisance_name = {};
  allocate::Rules rules = {};
  std::optional<std::size_t> reference = {};
};

// Throws Error of kind data where an arm has fewer than two judged rows or nobody earned anything; of kind usage for
// what cannot be had from sums: the stratified estimator, analytic intervals, other weights than Poisson's.
Evaluation evaluate_sums(const SummedInput& input, const EvaluationOptions& options, const TaskRunner& runner,
                         core::RunContext& context);

}  // namespace dfcl::evaluate
