// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/hull.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "dfcl/core/error.h"

namespace dfcl::allocate {

Prices::Prices(const Rules& rules)
    : profit(rules.objective == Objective::profit), margin(rules.margin), least_efficiency(rules.min_roi) {
  // Strictly more value: m*dr - dc > 0, or dr > 0.
  const double none = profit ? 1.0 / margin : 0.0;
  least_efficiency = std::max(least_efficiency, std::nextafter(none, std::numeric_limits<double>::infinity()));
}

double Prices::efficiency(double multiplier) const {
  // The way back from m*e - 1 rounds: two parts in 10^15 keep an increment of exactly this multiplier out.
  return profit ? (multiplier + 1.0) / margin * (1.0 + 2e-15) : multiplier;
}

void throw_bad_unit(const Units& units, std::size_t row) {
  const std::string where = fmt::format("unit {}", units.first_unit + row);
  const std::uint8_t* eligible = units.eligible_row(row);
  const bool may_get_any =
      eligible == nullptr || std::any_of(eligible, eligible + units.revenue.cols, [](auto may) { return may != 0; });
  for (std::size_t arm = 0; may_get_any && arm < units.revenue.cols; ++arm) {
    const float revenue = units.revenue(row, arm);
    const float cost = units.cost(row, arm);
    if (std::isfinite(revenue) && std::isfinite(cost)) continue;
    const bool is_revenue = !std::isfinite(revenue);
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = fmt::format("{} of arm {} is not finite", is_revenue ? "revenue" : "cost", arm),
                       .where = where,
                       .found = fmt::format("{}", is_revenue ? revenue : cost),
                       .expected = "a finite number"});
  }
  throw core::Error({.kind = core::ErrorKind::data,
                     .what = "the unit may get no arm",
                     .where = where,
                     .expected = "at least one eligible arm, for example control"});
}

}  // namespace dfcl::allocate
