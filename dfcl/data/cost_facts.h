// SPDX-License-Identifier: Apache-2.0
//
// What is known about costs before anything is learned. A price or a rate that the study states is a fact: it is never
// learned and never has an interval. Prices stay double; the trial's column of costs is made from them. Memory: one
// number per arm.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace dfcl::data {

struct Arms;
struct Study;

enum class CostKind : std::uint8_t {
  observed,  // a column of the trial: cost is an outcome like revenue
  price,     // [arms] cost: every unit of the arm costs its price
  rate,      // [arms] cost_per_revenue: cost = rate x revenue
  price_if,  // [arms] cost with [columns] cost_if: the price is paid where that outcome happens
};

// "observed", "price", "rate", "price_if".
std::string_view to_text(CostKind kind);

struct CostFacts {
  CostKind kind = CostKind::observed;
  // Of each arm: its price per unit (price, price_if) or its rate of revenue (rate). Empty where costs are observed.
  std::vector<double> per_arm = {};

  bool is_known() const { return kind != CostKind::observed; }
  // Whether a unit's cost says that its price was paid (price_if). Nobody knows it of an arm without a price: false.
  bool is_paid(std::size_t arm, double cost) const { return per_arm[arm] != 0.0 && cost != 0.0; }
  bool operator==(const CostFacts&) const = default;
};

// The study's prices or rates, one for each arm. Control is free where it has none; any other arm must have one: throws
// Error of kind usage that names it.
CostFacts resolve_cost_facts(const Study& study, const Arms& arms);

}  // namespace dfcl::data
