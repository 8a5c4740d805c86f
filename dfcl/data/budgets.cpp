// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/budgets.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/error_makers.h"

namespace dfcl::data {
namespace {

constexpr double kUsualShares[] = {0.05, 0.1, 0.2, 0.3, 0.45, 0.6};

std::string list_text(const std::vector<double>& amounts) {
  std::vector<std::string> texts;
  for (const double amount : amounts) texts.push_back(fmt::format("{:.4g}", amount));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

// What format = 2 would have to say for the same budgets.
std::string in_format_2(const Study::Budgets& budgets, const ArmCosts& costs, double num_units) {
  const double control = costs.of_control();
  std::vector<std::string> keys;
  const auto add = [&](const char* key, std::vector<double> amounts, auto&& convert) {
    if (amounts.empty()) return;
    std::transform(amounts.begin(), amounts.end(), amounts.begin(), convert);
    keys.push_back(fmt::format("{} = {}", key, list_text(amounts)));
  };
  add("per_unit", budgets.per_unit, [&](double amount) { return amount - control; });
  add("total", budgets.total, [&](double amount) { return amount - control * num_units; });
  const double way = costs.most() - control;
  if (way > 0.0)
    add("share_of_max", budgets.share_of_max, [&](double share) { return (share * costs.most() - control) / way; });
  return fmt::format("{}", fmt::join(keys, ", "));
}

// 0.1 counted what control costs into budgets; whoever wrote such a file must say which is meant.
void refuse_old_meaning(const Study& study, const ArmCosts& costs, double num_units) {
  const Study::Budgets& budgets = study.budgets;
  if (study.format != 1 || budgets.include_control || costs.of_control() == 0.0) return;
  const std::string same = in_format_2(budgets, costs, num_units);
  std::string hint = fmt::format(
      "add `format = 2` as the first line: budgets are then what is spent above control{}; or add "
      "`include_control = true` under [budgets]: they include what control costs, as before",
      same.empty() ? "" : ", here " + same);
  if (!budgets.share_of_max.empty())
    hint += "; share_of_max is in both a share of the extra cost of giving everyone the costliest arm";
  throw core::usage_error("study, [budgets]", "a file without `format` whose control costs something",
                          fmt::format("{:.6g} per unit in control", costs.of_control()), "", std::move(hint));
}

}  // namespace

std::string_view to_text(BudgetBasis basis) { return basis == BudgetBasis::total ? "total" : "incremental"; }

BudgetBasis budget_basis(const Study& study) {
  return study.budgets.include_control || study.format == 1 ? BudgetBasis::total : BudgetBasis::incremental;
}

double ArmCosts::most() const { return *std::max_element(mean.begin(), mean.end()); }

ArmCosts arm_costs(const Trial& trial) {
  const std::size_t num_arms = trial.arms.size();
  const CostFacts& facts = trial.cost_facts;
  ArmCosts costs{std::vector<double>(num_arms), trial.arms.control};
  if (facts.kind == CostKind::price) {
    costs.mean = facts.per_arm;
    return costs;
  }
  std::vector<double> counts(num_arms);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    const std::size_t arm = trial.arm[unit];
    const auto cost = static_cast<double>(trial.cost[unit]);
    const double weight = trial.sample_weight(unit);
    counts[arm] += weight;
    switch (facts.kind) {
      case CostKind::rate: costs.mean[arm] += weight * static_cast<double>(trial.revenue[unit]); break;
      case CostKind::price_if: costs.mean[arm] += facts.is_paid(arm, cost) ? weight : 0.0; break;
      default: costs.mean[arm] += weight * cost;
    }
  }
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    if (counts[arm] > 0.0) costs.mean[arm] /= counts[arm];
    if (facts.is_known()) costs.mean[arm] *= facts.per_arm[arm];
  }
  return costs;
}

std::vector<Budget> resolve_budgets(const BudgetAmounts& amounts, const ArmCosts& costs, std::size_t num_units) {
  const auto units = static_cast<double>(num_units);
  const double control = costs.of_control();
  std::vector<Budget> budgets;
  for (const double amount : amounts.per_unit)
    budgets.push_back({fmt::format("per_unit {}", amount), amount, amounts.basis});
  for (const double amount : amounts.total)
    budgets.push_back({fmt::format("total {}", amount), amount / units, amounts.basis});
  for (const double share : amounts.share_of_max) {
    const double above = share * (costs.most() - control);
    budgets.push_back({fmt::format("share_of_max {}", share),
                       amounts.basis == BudgetBasis::total ? control + above : above, amounts.basis});
  }
  return budgets;
}

std::vector<Budget> resolve_budgets(const Study& study, const ArmCosts& costs, std::size_t num_units) {
  refuse_old_meaning(study, costs, static_cast<double>(num_units));
  const BudgetBasis basis = budget_basis(study);
  std::vector<Budget> budgets = resolve_budgets(
      {study.budgets.per_unit, study.budgets.total, study.budgets.share_of_max, basis}, costs, num_units);
  if (!budgets.empty()) return budgets;
  // Where control is the costliest, other arms save: budgets start at the cheapest.
  const double control = costs.of_control();
  const double most = costs.most();
  const double least = control < most ? control : *std::min_element(costs.mean.begin(), costs.mean.end());
  for (const double share : kUsualShares) {
    const double total = least + share * (most - least);
    const double amount = basis == BudgetBasis::total ? total : total - control;
    budgets.push_back({fmt::format("per_unit {:.6g}", amount), amount, basis});
  }
  return budgets;
}

std::vector<PlanBudget> plan_budgets(const BudgetAmounts& amounts, const UnitSpends& spends) {
  const bool is_total = amounts.basis == BudgetBasis::total;
  std::vector<PlanBudget> budgets;
  const auto add = [&](double asked) { budgets.push_back({asked, is_total ? asked : asked + spends.in_control}); };
  for (const double amount : amounts.per_unit) add(amount * static_cast<double>(spends.num_units));
  for (const double amount : amounts.total) add(amount);
  for (const double share : amounts.share_of_max) {
    const double above = share * (spends.in_costliest - spends.in_control);
    add(is_total ? spends.in_control + above : above);
  }
  return budgets;
}

std::vector<Budget> resolve_budgets(const Study& study, const Trial& trial) {
  return resolve_budgets(study, arm_costs(trial), trial.num_units());
}

}  // namespace dfcl::data
