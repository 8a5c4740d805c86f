// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/totals.h"

namespace dfcl::allocate {

double Totals::spend(const Prices& prices) const {
  if (prices.price.empty()) return cost.value();
  if (prices.price_scale > 0.0) {
    std::int64_t whole = 0;  // units < 2^31, prices < 2^31
    for (std::size_t arm = 0; arm < prices.price.size(); ++arm) whole += units[arm] * prices.decimal_price[arm];
    return static_cast<double>(whole) / prices.price_scale;
  }
  double sum = 0.0;
  for (std::size_t arm = 0; arm < prices.price.size(); ++arm) {
    sum += static_cast<double>(units[arm]) * prices.price[arm];
  }
  return sum;
}

}  // namespace dfcl::allocate
