// SPDX-License-Identifier: Apache-2.0
//
// Rows in falling order of a score; equal scores keep the order of the rows. A radix sort on all threads: about 15 ns a
// row on one of them, 32 bytes a row while it runs. And the score by which cost curves rank (eq. 17).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "dfcl/core/run_context.h"

namespace dfcl::evaluate {

// Scores are finite. `rows` chooses some of them, in rising order; empty: all.
std::vector<std::uint32_t> order_falling(std::span<const double> scores, std::span<const std::uint32_t> rows,
                                         core::RunContext& context);

// The rows that stand at these places (rising, from 0, fewer than 255) of that order of all rows. A few passes, without
// sorting; 16 bytes for each row that shares the upper digits of its score with a wanted one, so at most 16 a row.
std::vector<std::uint32_t> rows_at_places(std::span<const double> scores, std::span<const std::size_t> places,
                                          core::RunContext& context);

enum class Ranking : std::uint8_t {
  angle,      // of (extra cost, extra revenue): earning while saving first, losing while saving last
  published,  // the quotient, |extra cost| floored at 1e-6: two negatives count as good
};
std::string_view to_text(Ranking ranking);

double rank_score(double extra_revenue, double extra_cost, Ranking ranking);

}  // namespace dfcl::evaluate
