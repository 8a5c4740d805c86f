// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/plan/plan_description.h"

#include <algorithm>
#include <numeric>

#include "dfcl/report/evaluation/evaluation_description.h"
#include "dfcl/report/plan/promise_report.h"
#include "dfcl/report/results/results_head.h"

namespace dfcl::report {

using allocate::Solution;
using launch::ArmTotals;
using launch::PlanChange;
using launch::RoleTotals;

namespace {

// A figure of the solution that is there only with a plan.
template <class V>
auto planned(V Solution::*member) {
  return [member](const PlanSummary& plan) {
    return plan.solution.has_plan() ? std::optional<V>(plan.solution.*member) : std::nullopt;
  };
}

// The same, computed.
template <class Get>
auto where_planned(Get get) {
  return [get](const PlanSummary& plan) { return plan.solution.has_plan() ? std::optional(get(plan)) : std::nullopt; };
}

struct Price {
  double spend = 0.0;
  double multiplier = 0.0;
};

Keyed<std::int64_t> units_per_arm(const PlanSummary& plan) {
  Keyed<std::int64_t> units;
  const std::vector<std::int64_t>& counts = plan.solution.units_per_arm;
  for (std::size_t arm = 0; arm < std::min(counts.size(), plan.arms.size()); ++arm)
    units.items.emplace_back(plan.arms[arm], counts[arm]);
  return units;
}

std::optional<Price> second_budget(const PlanSummary& plan) {
  if (!plan.solution.has_plan() || !plan.has_second) return std::nullopt;
  return Price{plan.solution.second_spend, plan.solution.second_multiplier};
}

std::optional<Keyed<double>> arm_multiplier(const PlanSummary& plan) {
  if (!plan.solution.has_plan() || plan.solution.arm_multiplier.empty()) return std::nullopt;
  Keyed<double> prices;
  for (std::size_t arm = 0; arm < plan.arms.size(); ++arm)
    prices.items.emplace_back(plan.arms[arm], plan.solution.arm_multiplier[arm]);
  return prices;
}

std::optional<Keyed<Price>> segments(const PlanSummary& plan) {
  const Solution& solution = plan.solution;
  if (!solution.has_plan() || solution.segment_spend.empty()) return std::nullopt;
  Keyed<Price> prices;
  for (std::size_t segment = 0; segment < solution.segment_spend.size(); ++segment) {
    const double price = segment < solution.segment_multiplier.size() ? solution.segment_multiplier[segment] : 0.0;
    prices.items.emplace_back(plan.segments[segment], Price{solution.segment_spend[segment], price});
  }
  return prices;
}

std::optional<Keyed<RoleTotals>> roles(const PlanSummary& plan) {
  if (!plan.launch) return std::nullopt;
  Keyed<RoleTotals> totals;
  for (std::size_t role = 0; role < data::kNumRoles; ++role)
    totals.items.emplace_back(data::kRoleNames[role], plan.launch->roles[role]);
  return totals;
}

struct ArmChange {
  ArmTotals before;
  ArmTotals now;
};

struct Move {
  std::string from;
  std::string to;
  std::size_t units = 0;
};

Keyed<ArmChange> arm_changes(const PlanChange& change) {
  Keyed<ArmChange> arms;
  for (std::size_t arm = 0; arm < change.arms.size(); ++arm)
    arms.items.emplace_back(change.arms[arm], ArmChange{change.before[arm], change.now[arm]});
  return arms;
}

std::vector<Move> moves(const PlanChange& change) {
  std::vector<Move> list;
  for (std::size_t from = 0; from < change.arms.size(); ++from) {
    for (std::size_t to = 0; to < change.arms.size(); ++to) {
      const std::size_t units = change.moves[from][to];
      if (to != from && units > 0) list.push_back({change.arms[from], change.arms[to], units});
    }
  }
  return list;
}

auto sum(std::vector<ArmTotals> PlanChange::*totals, double ArmTotals::*field) {
  return [totals, field](const PlanChange& change) {
    return std::accumulate((change.*totals).begin(), (change.*totals).end(), 0.0,
                           [&](double total, const ArmTotals& arm) { return total + arm.*field; });
  };
}

}  // namespace

static const Described<Price>& description(Of<Price>) {
  static const auto price = Described<Price>("Price", "Spend under a budget of its own.")
                                .field("spend", &Price::spend, {"predicted", kTotal})
                                .field("multiplier", &Price::multiplier, "of this budget, on top of the total's");
  return price;
}

static const Described<RoleTotals>& description(Of<RoleTotals>) {
  static const auto totals = Described<RoleTotals>("RoleTotals", "The units of one role.")
                                 .field("units", &RoleTotals::units, {"how many", kUnits})
                                 .field("spend", &RoleTotals::spend, {"predicted", kTotal})
                                 .field("revenue", &RoleTotals::revenue, {"predicted", kTotal});
  return totals;
}

static const Described<ArmTotals>& description(Of<ArmTotals>) {
  static const auto totals = Described<ArmTotals>("ArmTotals", "The units of one arm.")
                                 .field("units", &ArmTotals::units, {"how many", kUnits})
                                 .field("spend", &ArmTotals::spend, {"predicted", kTotal})
                                 .field("revenue", &ArmTotals::revenue, {"predicted", kTotal});
  return totals;
}

static const Described<ArmChange>& description(Of<ArmChange>) {
  static const auto change = Described<ArmChange>("ArmChange", "One arm in both plans.")
                                 .field("before", &ArmChange::before, "in the previous plan")
                                 .field("now", &ArmChange::now, "in this plan");
  return change;
}

static const Described<Move>& description(Of<Move>) {
  static const auto move = Described<Move>("Move", "Units that changed their arm.")
                               .field("from", &Move::from, "label")
                               .field("to", &Move::to, "label")
                               .field("units", &Move::units, {"how many", kUnits});
  return move;
}

static const Described<PlanChange>& description(Of<PlanChange>) {
  using C = PlanChange;
  static const auto change =
      Described<C>("PlanChange", "This plan against the previous one.")
          .field("units_in_both", &C::units_in_both, {"in both plans", kUnits})
          .field("units_new", &C::units_new, {"in this plan only", kUnits})
          .field("units_gone", &C::units_gone, {"in the previous plan only", kUnits})
          .field("units_moved", &C::units_moved, {"in another arm", kUnits})
          .field("holdout_changed",
                 [](const C& one) { return one.roles_known ? std::optional(one.holdout_changed) : std::nullopt; },
                 {"that entered or left the hold-out; null where a plan has no roles", kUnits})
          .field("spend_before", sum(&C::before, &ArmTotals::spend), {"predicted", kTotal})
          .field("spend_now", sum(&C::now, &ArmTotals::spend), {"predicted", kTotal})
          .field("revenue_before", sum(&C::before, &ArmTotals::revenue), {"predicted", kTotal})
          .field("revenue_now", sum(&C::now, &ArmTotals::revenue), {"predicted", kTotal})
          .field("arms", arm_changes, "arm by arm")
          .field("moves", moves, "between arms");
  return change;
}

static const Described<PlanSeconds>& description(Of<PlanSeconds>) {
  static const auto seconds = Described<PlanSeconds>("PlanSeconds", "Time taken, in seconds.")
                                  .field("read", &PlanSeconds::read, "reading")
                                  .field("solve", &PlanSeconds::solve, "solving")
                                  .field("write", &PlanSeconds::write, "writing");
  return seconds;
}

static const Described<launch::Promise>& description(Of<launch::Promise>) {
  using P = launch::Promise;
  const auto where_evaluated = [](auto get) {
    return [get](const P& one) { return one.is_evaluated() ? std::optional(get(one)) : std::nullopt; };
  };
  static const auto promise =
      Described<P>("Promise",
                   "What the plan promises beside what such plans were worth on units that the model had not seen.")
          .field(
              "status", [](const P& one) { return launch::to_text(one.status); },
              "`within`, `above` or `below`: where the predicted revenue lies by the evaluated interval; `index`: "
              "nothing is promised; `not_evaluated`")
          .maybe(
              "reason", [](const P& one) { return one.is_evaluated() ? std::nullopt : std::optional(one.reason); },
              "why it is not evaluated")
          .field("units", [](const P& one) { return one.planned.units; },
                 {"that get what is best for them, of which all totals here are", kUnits})
          .field("predicted_revenue", [](const P& one) { return one.planned.revenue; },
                 {"over everyone in control", kTotal})
          .field("predicted_cost", [](const P& one) { return one.planned.cost; }, {"over everyone in control", kTotal})
          .maybe("revenue", where_evaluated([](const P& one) { return one.revenue; }),
                 {"evaluated, over everyone in control; where it is evaluated, here and below", kTotal})
          .maybe("cost", where_evaluated([](const P& one) { return one.cost; }),
                 {"evaluated, over everyone in control", kTotal})
          .maybe("profit", [](const P& one) { return one.profit; },
                 {"evaluated, over everyone in control; where it is said what revenue is worth", kTotal})
          .maybe("evaluated_on", where_evaluated([](const P& one) { return one.unseen_units; }),
                 {"of the trial, which the model had not seen", kUnits})
          .maybe("unseen", where_evaluated([](const P& one) { return std::string(data::to_text(one.unseen)); }),
                 "`out_of_fold`: each unit by a fit without it; `validation`: units that only stopped or calibrated "
                 "training")
          .maybe("before_selection", where_evaluated([](const P& one) { return one.chose_members; }),
                 "whether the members of a stack were chosen on the same units")
          .field(
              "sentence", [](const P& one) { return promise_sentence(one); }, "all of it in words");
  return promise;
}

static const Described<data::RuleLeaf>& description(Of<data::RuleLeaf>) {
  using L = data::RuleLeaf;
  static const auto leaf = Described<L>("RuleLeaf", "Units that get the same arm.")
                               .field("units", &L::units, "which, in words")
                               .field("arm", &L::arm, "what they get")
                               .field("num_units", &L::num_units, {"how many", kUnits})
                               .field("predicted_revenue", &L::revenue, {"over control", kPerUnit})
                               .field("predicted_cost", &L::cost, {"over control", kPerUnit});
  return leaf;
}

static const Described<data::PlanRule>& description(Of<data::PlanRule>) {
  using R = data::PlanRule;
  static const auto rule = Described<R>("PlanRule", "The plan as a short rule.")
                               .field("nodes", &R::nodes, "its questions and leaves")
                               .field("leaves", &R::leaves, "who gets what")
                               .field("plan_value", &R::plan_value, {"of the plan that it stands for", kTotal});
  return rule;
}

const Described<PlanSummary>& description(Of<PlanSummary>) {
  using P = PlanSummary;
  static const auto plan =
      Described<P>("Plan", "A plan: the arm of every unit under a budget.")
          .field(
              "status", [](const P& one) { return allocate::to_text(one.solution.status); }, "how the solver ended")
          .field("units", &P::num_units, {"how many", kUnits})
          .field("budget", &P::budget, {"as asked for; null: no limit", kTotal})
          .field_as(
              "budget_basis", budget_basis_schema(), [](const P& one) { return data::to_text(one.budget_basis); },
              "whether the budget is spend above everyone in control, or all spend")
          .field("least_spend", [](const P& one) { return least_spend(one); },
                 {"of any plan, in the basis of the budget", kTotal})
          .maybe("spend", planned(&Solution::spend), {"predicted; there is a plan, here and below", kTotal})
          .maybe("left", where_planned([](const P& one) { return one.solution.budget - one.solution.spend; }),
                 {"of the budget", kTotal})
          .maybe("binding",
                 where_planned([](const P& one) { return std::string(allocate::to_text(one.solution.binding)); }),
                 "why not more is spent")
          .maybe("objective", where_planned([](const P& one) {
                   return std::string(one.rules.objective == allocate::Objective::profit ? "profit" : "revenue");
                 }),
                 "what is made as large as can be: `revenue` or `profit`")
          .maybe("value", planned(&Solution::value), {"of the objective", kTotal})
          .maybe("revenue", planned(&Solution::revenue), {"predicted", kTotal})
          .maybe("control_revenue", planned(&Solution::control_revenue), {"of everyone in control", kTotal})
          .maybe("incremental_revenue",
                 where_planned([](const P& one) { return one.solution.revenue - one.solution.control_revenue; }),
                 {"over everyone in control", kTotal})
          .maybe("incremental_cost", where_planned(incremental_cost), {"over everyone in control", kTotal})
          .maybe("incremental_profit",
                 [](const P& one) {
                   const bool has = one.solution.has_plan() && one.shows_profit;
                   return has ? std::optional(incremental_profit(one)) : std::nullopt;
                 },
                 {"worth of the incremental revenue minus incremental cost; where it is said what revenue is worth",
                  kTotal})
          .maybe(
              "roi",
              [](const P& one) {
                const bool has = one.solution.has_plan() && one.shows_profit && incremental_cost(one) > 0.0;
                return has ? std::optional(incremental_profit(one) / incremental_cost(one)) : std::nullopt;
              },
              "incremental profit per incremental cost; likewise, where more is spent than in control")
          .maybe("evaluated", &P::promise, "what such plans were worth on units that the model had not seen")
          .maybe("control_cost", planned(&Solution::control_cost), {"of everyone in control", kTotal})
          .maybe("bound", planned(&Solution::bound), {"no plan within the constraints has a higher value", kTotal})
          .maybe("gap", planned(&Solution::gap), {"bound minus value", kTotal})
          .maybe("multiplier", planned(&Solution::multiplier), "what one more unit of budget would earn")
          .maybe("units_per_arm", where_planned(units_per_arm), {"by arm", kUnits})
          .maybe("policy_tree", &P::rule, "where the plan is a short rule")
          .maybe("second", second_budget, "with a second budget")
          .maybe("arm_multiplier", arm_multiplier,
                 "with limits on units per arm: value of one unit less (above 0) or more (below 0) in the arm")
          .maybe("segments", segments, "with budgets by segment")
          .maybe("holdout",
                 [](const P& one) { return one.launch ? std::optional(one.launch->design.holdout) : std::nullopt; },
                 {"of the units; with a hold-out or exploration, here and below", kShare})
          .maybe("explore",
                 [](const P& one) { return one.launch ? std::optional(one.launch->design.explore) : std::nullopt; },
                 {"of the units", kShare})
          .maybe("roles", roles, "`plan`, `holdout`, `explore`")
          .maybe(
              "spend_elasticity",
              [](const P& one) { return one.launch ? std::optional(one.launch->spend_elasticity) : std::nullopt; },
              "per cent by which predicted spend falls where the multiplier rises by one per cent")
          .maybe("previous", &P::change, "against the previous plan, where one was given")
          .field("seconds", &P::seconds, "time taken");
  return plan;
}

}  // namespace dfcl::report
