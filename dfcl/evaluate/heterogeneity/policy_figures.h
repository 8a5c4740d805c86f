// SPDX-License-Identifier: Apache-2.0
//
// What the rule of a policy tree is worth beside the plan that it stands for: both on the same rows, the difference at
// a common price (eq. 20), so that neither wins by overspending. The tree was fitted to predictions for other rows. A
// few passes over the rows for each tree. Internal to the room.
#pragma once

#include <cstdint>
#include <span>

#include "dfcl/evaluate/curves/setting.h"

namespace dfcl::evaluate {

// plan: the arm of each row under the plan at this budget. price: revenue per cost.
PolicyTreeFigures policy_figures(const Setting& setting, const JudgedModel& model, const JudgedTree& tree,
                                 std::span<const std::uint8_t> plan, double budget_per_unit, double price);

}  // namespace dfcl::evaluate
