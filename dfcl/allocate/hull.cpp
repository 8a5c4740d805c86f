// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/hull.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "dfcl/core/error.h"

namespace dfcl::allocate {

Prices::Prices(const Rules& rules)
    : profit(rules.objective == Objective::profit), margin(rules.margin), price(rules.price) {
  // Strictly more value: m*dr - dc > 0, or dr > 0.
  const double none = profit ? 1.0 / margin : 0.0;
  any_efficiency = std::nextafter(none, std::numeric_limits<double>::infinity());
  least_efficiency = std::max(rules.min_roi, any_efficiency);
  // The fewest decimals that all prices have; a price that needs more than nine is taken as it is.
  double scale = 1.0;
  for (int decimals = 0; decimals <= 9 && !price.empty() && price_scale == 0.0; ++decimals, scale *= 10.0) {
    const auto fits = [&](double value) {
      const double scaled = value * scale;
      return std::abs(scaled) < 0x1p31 && std::round(scaled) / scale == value;
    };
    if (std::all_of(price.begin(), price.end(), fits)) price_scale = scale;
  }
  if (price_scale == 0.0) return;
  for (const double value : price) decimal_price.push_back(std::llround(value * price_scale));
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

void throw_other_price(const Units& units, std::size_t row, std::size_t arm, double price) {
  if (!std::isfinite(units.cost(row, arm))) throw_bad_unit(units, row);
  throw core::Error({.kind = core::ErrorKind::data,
                     .what = fmt::format("the cost of arm {} is not its price", arm),
                     .where = fmt::format("unit {}", units.first_unit + row),
                     .found = fmt::format("{}", units.cost(row, arm)),
                     .expected = fmt::format("{}", price)});
}

}  // namespace dfcl::allocate
