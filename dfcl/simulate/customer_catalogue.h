// SPDX-License-Identifier: Apache-2.0
//
// The list of a customer's features: what each is called, how it is distributed, on which traits it hangs, how often it
// is missing and for whom. Plain tables; nothing is computed here.
#pragma once

#include <array>
#include <string_view>

#include "dfcl/simulate/customer_features.h"

namespace dfcl::simulate {

// With x = centre + spread x score: an amount is exp(x), a count the nearest whole number to it, a share 1/(1+exp(-x)),
// a flag x > 0, a grade x within 1 to 5, whole years x within 16 to 99. A distance is centre x (1 - rank)^(-1/spread),
// a Pareto tail; a balance is centre x sinh(spread x score), heavy on both sides.
enum class CustomerNumberKind : std::uint8_t { amount, count, share, flag, grade, years, distance, balance };

struct CustomerNumberSpec {
  std::string_view name;
  CustomerNumberKind kind;
  double centre;
  double spread;
  // score = load_first x trait + load_second x trait + noise, of variance 1.
  CustomerTrait first;
  double load_first;
  CustomerTrait second;
  double load_second;
  double missing = 0.0;  // rate
  // Those with less (above 0: more often missing for them) or more (below 0) of the first trait leave it out.
  double missing_lean = 0.0;
};

struct CustomerCategorySpec {
  std::string_view name;
  std::string_view level_stem;
  std::size_t num_levels;
  double decay;  // the share of level k falls as k^-decay
  double missing;
};

const std::array<CustomerCategorySpec, kNumCustomerCategories>& customer_categories();
const std::array<CustomerNumberSpec, kNumCustomerNumbers>& customer_numbers();

}  // namespace dfcl::simulate
