// SPDX-License-Identifier: Apache-2.0
//
// For tests that count how often intervals hold the truth.
#pragma once

#include <cstddef>
#include <cstdlib>

#include "dfcl/core/interval.h"

namespace dfcl::evaluate {

// How many trials to make: DFCL_COVERAGE_TRIALS, else so many.
inline std::size_t num_coverage_trials(std::size_t otherwise) {
  const char* const given = std::getenv("DFCL_COVERAGE_TRIALS");
  return given == nullptr ? otherwise : static_cast<std::size_t>(std::atoll(given));
}

inline bool holds(const core::Interval& interval, double truth) {
  return interval.low <= truth && truth <= interval.high;
}

}  // namespace dfcl::evaluate
