// SPDX-License-Identifier: Apache-2.0
#include "dfcl/trees/feature_bins.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "dfcl/core/for_each_processor.h"
#include "dfcl/core/parallel.h"

namespace dfcl::trees {
namespace {

// values: sorted. Cuts so that every bin has about the same number of values and equal values share a bin.
std::vector<float> cuts_of(const std::vector<float>& values, std::size_t most_bins) {
  std::vector<float> cuts;
  if (values.empty()) return cuts;
  const auto cut_before = [&](std::size_t i) {  // halfway, and below values[i] whatever the rounding
    const float low = values[i - 1];
    const float high = values[i];
    const float middle = low + (high - low) / 2.0f;
    cuts.push_back(middle < high && middle >= low ? middle : low);
  };
  std::size_t distinct = 1;
  for (std::size_t i = 1; i < values.size(); ++i) distinct += values[i] != values[i - 1] ? 1 : 0;
  std::size_t used = 0;  // values in bins that are closed
  std::size_t bins_left = most_bins;
  for (std::size_t i = 1; i < values.size() && bins_left > 1; ++i) {
    if (values[i] == values[i - 1]) continue;
    // Closed once it has its share of what is left; a long run of equal values takes the share of several.
    const bool full = (i - used) * bins_left >= values.size() - used;
    if (distinct > most_bins && !full) continue;
    cut_before(i);
    used = i;
    --bins_left;
  }
  return cuts;
}

// The most frequent levels have bins of their own.
std::vector<std::uint8_t> level_bins_of(const std::vector<float>& codes, std::size_t num_levels) {
  std::vector<std::uint8_t> bins(num_levels);
  std::vector<std::size_t> order(num_levels);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (num_levels >= kMostBins) {
    std::vector<std::size_t> counts(num_levels);
    for (const float code : codes) ++counts[std::min(static_cast<std::size_t>(code), num_levels - 1)];
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  }
  for (std::size_t rank = 0; rank < num_levels; ++rank) {
    bins[order[rank]] = static_cast<std::uint8_t>(std::min(rank + 1, kMostBins - 1));
  }
  return bins;
}

constexpr std::size_t kPaddedCuts = 255;  // eight halvings

// cuts: padded with what no value is above. Bin 0 for what is not finite. Eight steps without a branch.
DFCL_FOR_EACH_PROCESSOR
void find_numbers(const float* cuts, const float* values, std::size_t count, std::uint8_t* to) {
  for (std::size_t i = 0; i < count; ++i) {
    const float value = values[i];
    std::int32_t below = 0;
    for (std::int32_t half = 128; half > 0; half /= 2) below += cuts[below + half - 1] < value ? half : 0;
    const bool finite = value - value == 0.0f;
    to[i] = static_cast<std::uint8_t>(finite ? below + 1 : 0);
  }
}

}  // namespace

std::size_t FeatureBins::num_bins() const {
  if (!categorical) return cuts.size() + 2;
  const auto last = std::max_element(level_bin.begin(), level_bin.end());
  return last == level_bin.end() ? 1 : static_cast<std::size_t>(*last) + 1;
}

std::uint8_t FeatureBins::bin_of(float value) const {
  if (!std::isfinite(value)) return 0;
  if (categorical) {
    if (level_bin.empty()) return 0;
    const bool known = value >= 0.0f && value < static_cast<float>(level_bin.size());
    return level_bin[known ? static_cast<std::size_t>(value) : 0];  // codes that no reader makes: the pool
  }
  std::size_t below = 0;
  std::size_t length = cuts.size();
  while (length > 0) {  // the number of cuts below the value, without a branch on the data
    const std::size_t half = (length + 1) / 2;
    below += cuts[below + half - 1] < value ? half : 0;
    length -= half;
  }
  return static_cast<std::uint8_t>(below + 1);
}

void find_bins(const FeatureBins& bins, std::span<const float> values, std::uint8_t* to) {
  if (bins.categorical) {
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = bins.bin_of(values[i]);
    return;
  }
  std::array<float, kPaddedCuts> cuts;
  std::fill(std::copy(bins.cuts.begin(), bins.cuts.end(), cuts.begin()), cuts.end(),
            std::numeric_limits<float>::infinity());
  find_numbers(cuts.data(), values.data(), values.size(), to);
}

std::vector<FeatureBins> fit_bins(const std::vector<data::FeatureColumn>& columns, core::MatrixView<const float> values,
                                  std::span<const std::uint32_t> rows, std::size_t most_bins,
                                  core::RunContext& context) {
  std::vector<FeatureBins> features(columns.size());
  const std::size_t count = std::min(rows.size(), kCutSample);
  core::for_each_chunk(context, columns.size(), 1, [&](std::size_t feature, std::size_t, std::size_t) {
    std::vector<float> sample;
    sample.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      const float value = values(rows[i * rows.size() / count], feature);
      if (std::isfinite(value)) sample.push_back(value);
    }
    FeatureBins& bins = features[feature];
    bins.categorical = columns[feature].categorical;
    if (bins.categorical) {
      std::erase_if(sample, [](float code) { return code < 0.0f; });
      bins.level_bin = level_bins_of(sample, columns[feature].levels.size());
    } else {
      std::sort(sample.begin(), sample.end());
      bins.cuts = cuts_of(sample, most_bins - 1);
    }
  });
  return features;
}

}  // namespace dfcl::trees
