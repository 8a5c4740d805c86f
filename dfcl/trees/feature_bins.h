// SPDX-License-Identifier: Apache-2.0
//
// Features as bytes: every value becomes the number of its bin, once, and trees see nothing else. Bin 0 holds missing
// values (infinite ones count as missing). Numbers are cut at quantiles of the training units, halfway between
// neighbouring values; where there are no more values than bins, each has its own. A category has a bin for each
// level; beyond 254 levels the most frequent have one and the rest share the last.
// Fitting sorts a sample of at most kCutSample units a feature; finding a bin takes a few nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/features.h"

namespace dfcl::trees {

inline constexpr std::size_t kCutSample = 32'768;
inline constexpr std::size_t kMostBins = 255;  // of a feature, that for missing values among them

struct FeatureBins {
  bool categorical = false;
  std::vector<float> cuts;              // numbers: rising; bin 1 + (number of cuts below the value)
  std::vector<std::uint8_t> level_bin;  // categories: the bin of each code
  bool operator==(const FeatureBins&) const = default;

  std::size_t num_bins() const;  // the bin for missing values among them
  std::uint8_t bin_of(float value) const;
};

// The same for many values of one feature at once: about 8 nanoseconds a value.
void find_bins(const FeatureBins& bins, std::span<const float> values, std::uint8_t* to);

// rows: the training units among the rows of values, units x features.
std::vector<FeatureBins> fit_bins(const std::vector<data::FeatureColumn>& columns, core::MatrixView<const float> values,
                                  std::span<const std::uint32_t> rows, std::size_t most_bins,
                                  core::RunContext& context);

}  // namespace dfcl::trees
