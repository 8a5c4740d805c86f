// SPDX-License-Identifier: Apache-2.0
//
// The simplest member of a stack (docs/method.md, "The stack"): every arm has its mean effect over control for
// everyone, on the base that the other members predict. Mixed in as a step after them, so that it costs no predictor of
// its own: a unit's effect becomes (1 - weight) x predicted + weight x mean. A few operations per number.
#pragma once

#include <cstddef>
#include <vector>

#include "dfcl/learn/outcome_facts.h"
#include "dfcl/learn/predictor.h"

namespace dfcl::learn {

// What values predictions of an outcome may take.
struct OutcomeForm {
  loss::OutcomeKind kind = loss::OutcomeKind::real;
  bool non_negative = false;  // of a real outcome

  double bounded(double value) const;
  bool operator==(const OutcomeForm&) const = default;
};
OutcomeForm outcome_form(const OutcomeFacts& facts);

struct MeanEffect {
  struct Outcome {
    OutcomeForm form;
    std::vector<double> effect;  // per arm, over control, whose is 0; empty: the outcome is not learned
    bool operator==(const Outcome&) const = default;
  };
  double weight = 0.0;  // within [0, 1]
  Outcome revenue;      // in the study's currency
  Outcome cost;         // as it is learned: of a price that is paid if something happens, its probability
  bool operator==(const MeanEffect&) const = default;
};

// A list of numbers of a size that leaves predictions finite, one for each arm, or none. For files.
bool is_per_arm(const std::vector<double>& numbers, std::size_t num_arms);
bool is_sound(const MeanEffect& mean, std::size_t num_arms);

// out: predictions of the other members, as they were learned.
void mix_mean_effect(const MeanEffect& mean, std::size_t control, Outcomes out);
// Of standard errors of effects: the mean effect counts as known.
void mix_mean_effect_errors(const MeanEffect& mean, Outcomes errors);

}  // namespace dfcl::learn
