// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/known_costs.h"

namespace dfcl::learn {
namespace {

// price: what a price contributes; 1 for outcomes, 0 for errors.
void set_costs(const data::CostFacts& facts, double price, Outcomes outcomes) {
  if (!facts.is_known()) return;
  for (std::size_t row = 0; row < outcomes.cost.rows; ++row) {
    for (std::size_t arm = 0; arm < outcomes.cost.cols; ++arm) {
      const double amount = facts.per_arm[arm];
      float& cost = outcomes.cost(row, arm);
      switch (facts.kind) {
        case data::CostKind::observed: break;
        case data::CostKind::price: cost = static_cast<float>(price * amount); break;
        case data::CostKind::rate:
          cost = static_cast<float>(amount * static_cast<double>(outcomes.revenue(row, arm)));
          break;
        case data::CostKind::price_if: cost = static_cast<float>(amount * static_cast<double>(cost)); break;
      }
    }
  }
}

}  // namespace

double known_cost(const data::CostFacts& facts, std::size_t arm, double revenue, double cost) {
  switch (facts.kind) {
    case data::CostKind::observed: return cost;
    case data::CostKind::price: return facts.per_arm[arm];
    case data::CostKind::rate: return facts.per_arm[arm] * revenue;
    case data::CostKind::price_if: return facts.per_arm[arm] * cost;
  }
  return cost;
}

void set_known_costs(const data::CostFacts& facts, Outcomes outcomes) { set_costs(facts, 1.0, outcomes); }

void set_known_errors(const data::CostFacts& facts, Outcomes errors) { set_costs(facts, 0.0, errors); }

loss::CostRule scaled_rule(const data::CostFacts& facts, const Scales& scales) {
  loss::CostRule rule;
  if (!facts.is_known()) return rule;
  const std::size_t num_arms = facts.per_arm.size();
  rule.fixed.assign(num_arms, 0.0);
  rule.per_revenue.assign(num_arms, 0.0);
  rule.per_outcome.assign(num_arms, 0.0);
  rule.is_outcome = facts.kind == data::CostKind::price_if;
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    const double amount = facts.per_arm[arm] / scales.cost.scale;  // cost is never centred
    if (facts.kind == data::CostKind::price) rule.fixed[arm] = amount;
    if (facts.kind == data::CostKind::rate) {
      rule.fixed[arm] = amount * scales.revenue.center;
      rule.per_revenue[arm] = amount * scales.revenue.scale;
    }
    if (rule.is_outcome) rule.per_outcome[arm] = amount;
  }
  return rule;
}

}  // namespace dfcl::learn
