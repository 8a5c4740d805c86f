// SPDX-License-Identifier: Apache-2.0
//
// Is a Problem well formed? Looks at shapes and options, not at the numbers of the matrices. No cost.
#pragma once

#include "dfcl/allocate/allocate.h"

namespace dfcl::allocate {

// Each throws core::Error of kind usage that names the field, the value and what was expected.
void validate(const Rules& rules, std::size_t num_arms);
void validate(const Problem& problem);
void validate_budget(double budget);
// For functions that take rules and eligibility only.
void require_path_only(const Problem& problem, const char* function);

bool has_unit_limits(const Problem& problem);
inline bool has_segments(const Problem& problem) { return !problem.segments.budgets.empty(); }
inline bool has_second_resource(const Problem& problem) { return problem.second.cost.data != nullptr; }

}  // namespace dfcl::allocate
