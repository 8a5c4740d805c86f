// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/typical_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "dfcl/core/random.h"

namespace dfcl::model {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

// Of models that do not keep it: as far above the last cut as the cut before it lies below.
float above_last_cut(const FeatureSummary& summary) {
  if (summary.last) return *summary.last;
  const std::size_t size = summary.cuts.size();
  if (size == 0) return 0.0f;
  return size == 1 ? summary.cuts.back() + 1.0f : 2.0f * summary.cuts[size - 1] - summary.cuts[size - 2];
}

float value_of_place(const FeatureSummary& summary, bool categorical, std::size_t place) {
  if (!categorical) return place < summary.cuts.size() ? summary.cuts[place] : above_last_cut(summary);
  // The pool of rare levels stands first, the levels beyond the commonest last: both are code 0 here.
  const bool is_common = place > 0 && place <= summary.levels.size();
  return is_common ? static_cast<float>(summary.levels[place - 1]) : 0.0f;
}

}  // namespace

float typical_value(const FeatureSummary& summary, bool categorical, double quantile) {
  const std::uint64_t known = std::accumulate(summary.counts.begin(), summary.counts.end(), std::uint64_t{0});
  double rest = quantile * static_cast<double>(known + summary.missing);
  for (std::size_t place = 0; place < summary.counts.size(); ++place) {
    if (rest < static_cast<double>(summary.counts[place])) return value_of_place(summary, categorical, place);
    rest -= static_cast<double>(summary.counts[place]);
  }
  return kMissing;
}

core::Matrix<float> typical_rows(const Model& model, std::size_t num_rows, std::uint64_t draw) {
  core::Matrix<float> rows(num_rows, model.features.size());
  std::vector<std::size_t> place(num_rows);
  for (std::size_t feature = 0; feature < model.features.size(); ++feature) {
    core::RandomStream stream(draw, core::stream_purpose("typical values"), feature);
    std::iota(place.begin(), place.end(), std::size_t{0});
    for (std::size_t i = num_rows; i > 1; --i)
      std::swap(place[i - 1], place[stream.below(static_cast<std::uint32_t>(i))]);
    for (std::size_t row = 0; row < num_rows; ++row) {
      const double quantile = (static_cast<double>(place[row]) + 0.5) / static_cast<double>(num_rows);
      rows(row, feature) = typical_value(model.summaries[feature], model.features[feature].categorical, quantile);
    }
  }
  return rows;
}

}  // namespace dfcl::model
