// SPDX-License-Identifier: Apache-2.0
//
// Prices of what units use up, each known to lie within a width of its middle. Most units take the same arm anywhere in
// such a box: one pass settles them, and what is left is a problem of the few open units. A unit's arm is settled where
// it beats every other by more than the widths can change. About 30 ns per unit with five arms.
#pragma once

#include <cstdint>
#include <vector>

#include "dfcl/allocate/plan_sums.h"

namespace dfcl::allocate {

struct PriceBox {
  double gain_scale = 1.0;         // gain = gain_scale x revenue - cost_price x cost - ...
  std::vector<double> cost_price;  // per segment; one where there are none. What the gain itself deducts is included
  std::vector<double> cost_width;  // may be infinite: nobody in the segment is settled
  double second_price = 0.0;
  double second_width = 0.0;
  std::vector<double> arm_price;  // per arm; empty: none
  std::vector<double> arm_width;

  // The same box, `factor` times as wide.
  PriceBox widened(double factor) const;
};

// Per unit, the least factor of the box's widths at which it is open.
std::vector<double> opening_factors(const Problem& problem, const PriceBox& box, core::RunContext& context);

struct SettledUnits {
  PlanSums sums;                    // of the settled units
  std::vector<std::uint32_t> open;  // the others
};
// Writes the arms of settled units. Numbers must be finite and every unit must have an arm that it may get.
SettledUnits settle_units(const Problem& problem, const PriceBox& box, std::uint8_t* arms, core::RunContext& context);

}  // namespace dfcl::allocate
