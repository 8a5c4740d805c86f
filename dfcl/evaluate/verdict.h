// SPDX-License-Identifier: Apache-2.0
//
// The answer first, in two answers: does a plan pay back, and does its targeting beat the same money spent at random?
// Both by intervals that hold at once over models, budgets and baselines. A launch needs both, and that today's rule is
// not shown to be better; a plan that pays back without shown targeting recommends the simple roll-out where that is
// shown to pay back too. Where it is not known what revenue is worth, the answer is
// what it must be worth. The order of the models does not matter.
#pragma once

#include <cstddef>
#include <string>

#include "dfcl/evaluate/evaluate.h"

namespace dfcl::evaluate {

struct VerdictOptions {
  Words words = {};
  std::string unfit_because = {};     // what is wrong with the trial; "": nothing
  std::size_t num_seeds = 1;          // trainings whose mean the figures are
  bool is_adjusted = false;           // by estimated propensities, for the arms are a little imbalanced
  std::string not_pre_declared = {};  // what was done otherwise than the study declares; "": nothing
};

// yes: all of the interval is above zero; no: all is below; not_shown, also without ends.
std::string answer_of(double low, double high);

// Whether a plan pays back by its simultaneous intervals: of profit, or of revenue where its worth is not known.
std::string pays_back_of(const JudgedPlan& plan);

// The difference from a baseline in words. name: of the baseline.
std::string difference_sentence(const BaselineDifferenceFigures& figures, const std::string& name, double level,
                                const Words& words);

// Reads the deployed plans, their differences from baselines and from the reference.
Verdict verdict_of(const Evaluation& evaluation, const VerdictOptions& options);

}  // namespace dfcl::evaluate
