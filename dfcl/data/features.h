// SPDX-License-Identifier: Apache-2.0
//
// The features of units as they were read: one row-major float32 matrix, NaN for missing. A categorical
// column holds integer codes into its levels; code 0 is the pool of rare and unseen levels. Imputing, one-hot and
// scaling are a network's business. Memory: 4 bytes x units x features.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"

namespace dfcl::data {

inline constexpr const char* kPooledLevel = "(other)";

struct FeatureColumn {
  std::string name;
  bool categorical = false;
  // Categorical only: levels[code]; levels[0] is kPooledLevel, the rest are in alphabetical order.
  std::vector<std::string> levels;
  bool operator==(const FeatureColumn&) const = default;
};

struct Features {
  std::vector<FeatureColumn> columns;
  core::Matrix<float> values;  // units x features

  std::size_t num_units() const { return values.rows(); }
  std::size_t num_features() const { return columns.size(); }
};

}  // namespace dfcl::data
