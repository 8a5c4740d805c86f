// SPDX-License-Identifier: Apache-2.0
//
// "Did you mean": the known name nearest to a mistyped one. For short lists of names (keys, columns, flags);
// time is candidates x length squared.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace dfcl::core {

// The candidate with the smallest edit distance, or "" when none is near (a third of the length, at least 1).
// Ties go to the earlier candidate. Upper and lower case count as equal.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

// "did you mean 'cost'?" when something is near, else "one of: a, b, c" (at most 12 names).
std::string suggest(std::string_view name, std::span<const std::string> candidates);

}  // namespace dfcl::core
