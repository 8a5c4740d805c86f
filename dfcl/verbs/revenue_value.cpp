// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/revenue_value.h"

#include <fmt/format.h>

#include <cmath>

#include "dfcl/core/error_makers.h"

namespace dfcl::verbs {

void require_value(const std::optional<double>& margin, const std::optional<double>& per_revenue, double most_margin) {
  if (margin && !(*margin > 0.0 && *margin <= most_margin && std::isfinite(*margin)))
    throw core::field_error(
        "margin", "out of range", fmt::format("{}", *margin),
        std::isinf(most_margin) ? "a number above 0" : fmt::format("a number above 0, at most {}", most_margin),
        fmt::format("{} is for revenue that is no money", core::field_name("per_revenue")));
  if (per_revenue && !(*per_revenue > 0.0 && std::isfinite(*per_revenue)))
    throw core::field_error("per_revenue", "out of range", fmt::format("{}", *per_revenue), "a number above 0");
  if (margin && per_revenue)
    throw core::field_error("per_revenue", fmt::format("cannot be combined with {}", core::field_name("margin")));
}

}  // namespace dfcl::verbs
