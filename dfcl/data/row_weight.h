// SPDX-License-Identifier: Apache-2.0
//
// What a row counts for where arms were not drawn alike: its sample weight over the probability of the arm it received,
// or the sample weight alone where the trial gives no probabilities.
#pragma once

#include <cstddef>

#include "dfcl/data/trial.h"

namespace dfcl::data {

inline double row_weight(const Trial& trial, std::size_t row) {
  const double sample = trial.sample_weight(row);
  return trial.propensity.empty() ? sample : sample / static_cast<double>(trial.propensity[row]);
}

}  // namespace dfcl::data
