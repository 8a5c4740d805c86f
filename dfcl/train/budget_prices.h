// SPDX-License-Identifier: Apache-2.0
//
// From budgets, which users know, to multipliers, which decisions need (measure 3 of section 5): the budget problem is
// solved on predictions for the budgets of interest. One solve a budget.
#pragma once

#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"

namespace dfcl::train {

// A budget of the study, made comparable: spend per unit, control's cost included.
struct UnitBudget {
  std::string label;  // as the study says it: "per_unit 0.5", "share_of_max 0.2", "total 1000"
  double per_unit = 0.0;
};

// Of each arm, over all units of the trial.
std::vector<double> mean_costs(const data::Trial& trial);

// share_of_max refers to the trial's mean cost in its costliest arm; total to the units of the trial. A study without
// budgets gets 5, 10, 20, 30, 45 and 60 % of the way from what control costs (the cheapest arm, where control is the
// costliest) to that maximum.
std::vector<UnitBudget> unit_budgets(const data::Study& study, const data::Trial& trial);

// The multiplier at which the predictions spend each budget; 0 where it does not bind. A budget that these
// predictions cannot meet, or only just, is priced at the low end of what they can spend.
std::vector<double> budget_multipliers(core::MatrixView<const float> revenue, core::MatrixView<const float> cost,
                                       const std::vector<UnitBudget>& budgets, core::RunContext& context);

}  // namespace dfcl::train
