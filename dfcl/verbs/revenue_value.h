// SPDX-License-Identifier: Apache-2.0
//
// What revenue is worth, as callers without a study say it: a margin, or an amount per unit of revenue. Internal to
// verbs.
#pragma once

#include <optional>

namespace dfcl::verbs {

// Throws Error of kind usage where one is out of range or both are given. most_margin: the largest that makes sense.
void require_value(const std::optional<double>& margin, const std::optional<double>& per_revenue,
                   double most_margin = 1.0);

}  // namespace dfcl::verbs
