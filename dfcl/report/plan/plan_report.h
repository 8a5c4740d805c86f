// SPDX-License-Identifier: Apache-2.0
//
// Plans and the curve of all plans, as screens for people, JSON for machines and CSV.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/allocate/allocate.h"
#include "dfcl/data/budgets.h"
#include "dfcl/data/plan_rule.h"
#include "dfcl/data/report_words.h"
#include "dfcl/launch/launch_design.h"
#include "dfcl/launch/plan_changes.h"
#include "dfcl/launch/promise.h"
#include "dfcl/report/text/screen.h"

namespace dfcl::report {

struct PlanSeconds {
  double read = 0.0;
  double solve = 0.0;
  double write = 0.0;
};

// A plan with a hold-out or exploration.
struct LaunchFigures {
  launch::LaunchDesign design;
  std::vector<launch::RoleTotals> roles;  // per data::Role
  // Per cent by which predicted spend falls where the multiplier rises by one per cent; NaN where it is not known.
  double spend_elasticity = 0.0;
};

struct PlanSummary {
  allocate::Solution solution;  // its arms are not looked at
  std::size_t num_units = 0;
  std::vector<std::string> arms;      // labels
  std::vector<std::string> segments;  // labels; empty without segments
  allocate::Rules rules;
  bool shows_profit = false;            // revenue is worth rules.margin
  double budget = allocate::kNoBudget;  // as asked for, in its basis; the solution's includes control's cost
  data::BudgetBasis budget_basis = data::BudgetBasis::total;
  bool has_second = false;
  PlanSeconds seconds;
  std::string file;  // "" where no plan was written
  std::optional<LaunchFigures> launch = {};
  std::optional<launch::PlanChange> change = {};
  std::optional<launch::Promise> promise = {};  // where there is a plan
  std::optional<data::PlanRule> rule = {};      // where the plan is a short rule
  std::string launch_time = {};                 // "": not said
  data::ReportWords words = {};                 // currency and name of the units, as the predictions say
};

// Of a plan over everyone in control, as predicted.
double incremental_cost(const PlanSummary& plan);
double least_spend(const PlanSummary& plan);         // of any plan, in the basis of the budget
double incremental_profit(const PlanSummary& plan);  // rules.margin x incremental revenue - incremental cost

// One plan as a screen, several as a table.
std::string plans_text(const std::vector<PlanSummary>& plans, Length length = Length::full);
// One object for one plan, {"plans": [...]} for several.
std::string plans_json(const std::vector<PlanSummary>& plans);
// The figures that go into a plan file's metadata.
std::vector<std::pair<std::string, std::string>> plan_metadata(const PlanSummary& plan);

std::string curve_text(const allocate::Curve& curve, const std::vector<std::string>& arms,
                       const data::ReportWords& words = {}, Length length = Length::full);
std::string curve_json(const allocate::Curve& curve, const std::vector<std::string>& arms);
std::string curve_csv(const allocate::Curve& curve, const std::vector<std::string>& arms);

}  // namespace dfcl::report
