// SPDX-License-Identifier: Apache-2.0
//
// Costs that are facts (dfcl/data/cost_facts.h), put in the place of predicted ones: a price as it is, a rate times
// predicted revenue, a price times the predicted probability that it is paid. A few operations a number.
#pragma once

#include "dfcl/data/cost_facts.h"
#include "dfcl/learn/outcome_facts.h"
#include "dfcl/learn/predictor.h"
#include "dfcl/loss/cost_rule.h"

namespace dfcl::learn {

// Of one unit and arm: the cost that is known, or the predicted one where none is.
double known_cost(const data::CostFacts& facts, std::size_t arm, double revenue, double cost);

// In the study's currency; predicted cost is the probability where the price is paid if an outcome happens.
void set_known_costs(const data::CostFacts& facts, Outcomes outcomes);
// The same for standard errors: a price has none.
void set_known_errors(const data::CostFacts& facts, Outcomes errors);

// On the scales of the losses.
loss::CostRule scaled_rule(const data::CostFacts& facts, const Scales& scales);

}  // namespace dfcl::learn
