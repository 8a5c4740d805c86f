// SPDX-License-Identifier: Apache-2.0
//
// From budgets, which users know, to multipliers, which decisions need (measure 3 of section 5): the budget problem is
// solved on predictions for the budgets of interest. One solve a budget.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/budgets.h"

namespace dfcl::train {

// Of everyone in control, by these predictions.
double control_cost_per_unit(core::MatrixView<const float> cost, std::size_t control);

// The multiplier at which the predictions spend each budget; 0 where it does not bind. A budget that these
// predictions cannot meet, or only just, is priced at the low end of what they can spend. sample: sample weights of the
// units; empty: all alike.
std::vector<double> budget_multipliers(core::MatrixView<const float> revenue, core::MatrixView<const float> cost,
                                       std::size_t control, const std::vector<data::Budget>& budgets,
                                       core::RunContext& context, std::span<const float> sample = {});

}  // namespace dfcl::train
