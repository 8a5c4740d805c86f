// SPDX-License-Identifier: Apache-2.0
//
// Some rows that are judged, without their features: who they are, what happened to them, and what models predict for
// them. Made once where the rows are; every pass of an evaluation over sums (evaluate_sums.h) looks at blocks alone.
// Bytes are checked as hostile input. Memory: 17 bytes a row, 4 more with propensities, and 8 a row, arm and
// prediction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/evaluate/estimators/estimators.h"

namespace dfcl::evaluate {

struct JudgedBlock {
  std::size_t num_arms = 0;
  std::vector<std::uint64_t> key;                     // per row (data::unit_key)
  std::vector<std::uint8_t> arm;                      // received
  std::vector<float> revenue;                         // observed, as the next
  std::vector<float> cost;                            // as the trial has it
  std::vector<float> propensity;                      // of the arm received; empty: the arm shares
  std::vector<std::vector<float>> predicted_revenue;  // per prediction, rows x arms; the nuisance, if any, is the last
  std::vector<std::vector<float>> predicted_cost;

  std::size_t size() const { return key.size(); }
  std::size_t num_predictions() const { return predicted_revenue.size(); }
  Outcomes outcomes(std::size_t prediction) const {
    return {{predicted_revenue[prediction].data(), size(), num_arms},
            {predicted_cost[prediction].data(), size(), num_arms}};
  }

  std::string to_bytes() const;
  // Throws Error of kind data.
  static JudgedBlock from_bytes(std::string_view bytes);
};

}  // namespace dfcl::evaluate
