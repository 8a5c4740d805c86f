// SPDX-License-Identifier: Apache-2.0
//
// What a budget means. Amounts are incremental: spend above what all units would cost in control; or, where a study or
// a caller asks for it (include_control) and in files of version 0.1, totals. share_of_max is a share of the way from
// control to the costliest arm, in either basis. Everything that compares a budget with a spend converts it here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"

namespace dfcl::data {

enum class BudgetBasis : std::uint8_t {
  incremental,  // above what all units would cost in control
  total,        // what control costs included
};

// "incremental", "total": the budget_basis of models, plans and results.
std::string_view to_text(BudgetBasis basis);

// The basis of a study's budgets.
BudgetBasis budget_basis(const Study& study);

// What all units cost under each arm, divided by the number of units.
struct ArmCosts {
  std::vector<double> mean;  // per unit; one for each arm
  std::size_t control = 0;

  double of_control() const { return mean[control]; }
  double most() const;
};

// Of each arm, over all units of the trial that got it. Known prices are exact. One pass over the trial.
ArmCosts arm_costs(const Trial& trial);

struct Budget {
  std::string label;      // as the study says it: "per_unit 0.5", "share_of_max 0.2", "total 1000"
  double per_unit = 0.0;  // spend per unit, in its basis
  BudgetBasis basis = BudgetBasis::incremental;

  // What may be spent per unit in all, where everyone in control costs `control_cost` per unit by the costs at hand:
  // the trial's means, or predictions.
  double total_per_unit(double control_cost) const {
    return basis == BudgetBasis::total ? per_unit : per_unit + control_cost;
  }
  // The same, of the spend above control.
  double above_control(double control_cost) const {
    return basis == BudgetBasis::total ? per_unit - control_cost : per_unit;
  }
};

// One way to say a budget, with what it needs to become an amount.
struct BudgetAmounts {
  std::vector<double> per_unit;
  std::vector<double> total;
  std::vector<double> share_of_max;
  BudgetBasis basis = BudgetBasis::incremental;
};

// In the order of the fields. num_units: of whom `total` is spoken.
std::vector<Budget> resolve_budgets(const BudgetAmounts& amounts, const ArmCosts& costs, std::size_t num_units);

// The budgets of a study by the means of its trial; `total` is spoken of the units of the trial. A study without
// budgets gets 5, 10, 20, 30, 45 and 60 % of the way from control to the costliest arm; where control is the costliest,
// from the cheapest arm to control. Throws Error of kind usage for a file of version 0.1 whose control costs something.
std::vector<Budget> resolve_budgets(const Study& study, const Trial& trial);
std::vector<Budget> resolve_budgets(const Study& study, const ArmCosts& costs, std::size_t num_units);

// What all units cost, by the costs at hand: in control, and in the arm that costs most in all.
struct UnitSpends {
  std::size_t num_units = 0;
  double in_control = 0.0;
  double in_costliest = 0.0;
};

// A budget over all units: as it was asked for, in its basis, and what may be spent in all, which is what the solver
// takes.
struct PlanBudget {
  double asked = 0.0;
  double total = 0.0;
};

// In the order of the fields. Amounts that were given as totals are not rounded.
std::vector<PlanBudget> plan_budgets(const BudgetAmounts& amounts, const UnitSpends& spends);

}  // namespace dfcl::data
