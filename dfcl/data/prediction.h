// SPDX-License-Identifier: Apache-2.0
//
// What a model, or any other source, expects each unit to earn and cost under each arm. Memory: 8 bytes x units x
// arms, and the ids.
#pragma once

#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/data/ids.h"

namespace dfcl::data {

struct Prediction {
  std::vector<std::string> arms;  // labels
  Ids ids;
  core::Matrix<float> revenue;  // units x arms
  core::Matrix<float> cost;     // units x arms

  std::size_t num_units() const { return revenue.rows(); }
};

}  // namespace dfcl::data
