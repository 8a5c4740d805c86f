// SPDX-License-Identifier: Apache-2.0
//
// The units of a fit as trees see them: a byte for each feature (trees/feature_bins.h) and, as one more column, a byte
// for the arm. Kept twice: by rows, because histograms read many columns of a unit, and by columns, because splits and
// finished trees read one column of many units. Memory: about 2 bytes a unit and feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/core/column.h"
#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/trees/feature_bins.h"

namespace dfcl::boost {

// Finished trees look at so many units at a time; columns are padded to whole blocks.
inline constexpr std::size_t kBlockUnits = 256;

// The bin of an arm; 0 would mean missing.
inline std::uint8_t arm_bin(std::size_t arm) { return static_cast<std::uint8_t>(arm + 1); }

class BinnedUnits {
 public:
  // rows: the units among the rows of values; arm: one for each row of values.
  BinnedUnits(const std::vector<trees::FeatureBins>& features, core::MatrixView<const float> values,
              std::span<const std::uint32_t> rows, std::span<const std::uint8_t> arm, std::size_t num_arms,
              core::RunContext& context);

  std::size_t num_units() const { return num_units_; }
  std::size_t num_features() const { return num_bins_.size() - 1; }
  std::size_t num_columns() const { return num_bins_.size(); }
  std::size_t arm_column() const { return num_features(); }
  std::size_t num_bins(std::size_t column) const { return num_bins_[column]; }
  bool is_category(std::size_t column) const { return is_category_[column] != 0; }  // of a feature

  const std::uint8_t* row(std::size_t unit) const { return by_row_.data() + unit * stride_; }
  std::size_t stride() const { return stride_; }
  const std::uint8_t* column(std::size_t column) const { return by_column_.data() + column * padded_units_; }
  std::size_t padded_units() const { return padded_units_; }  // from one column to the next

 private:
  std::size_t num_units_;
  std::size_t padded_units_;
  std::vector<std::uint16_t> num_bins_;
  std::vector<std::uint8_t> is_category_;
  std::size_t stride_;
  core::Column<std::uint8_t> by_row_;
  core::Column<std::uint8_t> by_column_;
};

}  // namespace dfcl::boost
