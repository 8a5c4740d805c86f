// SPDX-License-Identifier: Apache-2.0
//
// What is known about the cost of each arm, in the scaled units of the losses: cost = fixed + per_revenue x predicted
// revenue + per_outcome x predicted probability of the outcome that makes the price due. With it a decision loss sees
// costs that nobody learns. An empty rule says nothing: predicted cost is what it is.
#pragma once

#include <cstddef>
#include <vector>

namespace dfcl::loss {

struct CostRule {
  std::vector<double> fixed;        // one for each arm
  std::vector<double> per_revenue;  // likewise
  std::vector<double> per_outcome;  // likewise
  bool is_outcome = false;          // what was observed in the place of cost is the outcome

  bool is_known() const { return !fixed.empty(); }
  double cost(std::size_t arm, double revenue, double outcome) const {
    return fixed[arm] + per_revenue[arm] * revenue + per_outcome[arm] * outcome;
  }
  // What a unit cost, from the column that was learned from.
  double observed(std::size_t arm, double column) const { return is_outcome ? per_outcome[arm] * column : column; }
};

}  // namespace dfcl::loss
