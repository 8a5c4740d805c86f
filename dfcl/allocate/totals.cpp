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

void Totals::save(core::ByteWriter& bytes, std::size_t num_arms) const {
  cost.save(bytes);
  revenue.save(bytes);
  for (std::size_t arm = 0; arm < num_arms; ++arm) bytes.write(units[arm]);
}

Totals Totals::load(core::ByteReader& bytes, std::size_t num_arms) {
  constexpr std::int64_t kMostUnits = std::int64_t{1} << 31;
  Totals totals;
  totals.cost = ExactSum::load(bytes);
  totals.revenue = ExactSum::load(bytes);
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    totals.units[arm] = bytes.read<std::int64_t>();
    bytes.require(totals.units[arm] > -kMostUnits && totals.units[arm] < kMostUnits, "more units than 2^31");
  }
  return totals;
}

}  // namespace dfcl::allocate
