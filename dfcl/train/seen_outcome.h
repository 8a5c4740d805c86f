// SPDX-License-Identifier: Apache-2.0
//
// One outcome of units whose predictions come from fits without them, as calibration looks at it. Internal to train.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/learn/calibration.h"
#include "dfcl/train/calibrate.h"

namespace dfcl::train {

// Of an outcome of this kind with this mean, but for a factor.
inline double usual_variance(loss::OutcomeKind kind, double mean) {
  switch (kind) {
    case loss::OutcomeKind::real: return 1.0;
    case loss::OutcomeKind::non_negative: return std::max(0.0, mean);
    case loss::OutcomeKind::binary: return mean * (1.0 - mean);
  }
  return 1.0;
}

struct SeenOutcome {
  const CalibrationUnits& units;
  std::span<const float> observed;
  core::MatrixView<const float> predicted;
  const learn::OutcomeFacts& facts;
  std::size_t control;

  std::size_t size() const { return units.arm.size(); }
  double sample_weight(std::size_t unit) const {
    return units.sample.empty() ? 1.0 : static_cast<double>(units.sample[unit]);
  }
  double total() const {
    if (units.sample.empty()) return static_cast<double>(size());
    return std::accumulate(units.sample.begin(), units.sample.end(), 0.0);
  }
  // The prediction after the shift of its arm.
  double value(const learn::Calibration::Outcome& outcome, std::size_t unit, std::size_t arm) const {
    return learn::shifted(outcome.form, static_cast<double>(predicted(unit, arm)), outcome.shift[arm]);
  }
};

// The sums, over independent clusters, of products of a few numbers per unit: the covariance of their sums. Serial, in
// the order of the units. Memory: 8 bytes per cluster and number.
template <std::size_t kSize>
class ProductSums {
 public:
  using Numbers = std::array<double, kSize>;

  explicit ProductSums(std::span<const std::uint32_t> cluster) : cluster_(cluster) {
    if (cluster.empty()) return;
    sums_.resize(1 + *std::max_element(cluster.begin(), cluster.end()));
    seen_.resize(sums_.size());
  }
  void add(std::size_t unit, const Numbers& numbers) {
    if (cluster_.empty()) {
      add_products(numbers);
      ++num_groups_;
      return;
    }
    for (std::size_t i = 0; i < kSize; ++i) sums_[cluster_[unit]][i] += numbers[i];
    seen_[cluster_[unit]] = 1;
  }
  std::size_t num_groups() const {
    return num_groups_ + static_cast<std::size_t>(std::count(seen_.begin(), seen_.end(), 1));
  }
  // kSize x kSize, as if the means over the groups were known: times G / (G - 1).
  std::array<double, kSize * kSize> total() {
    for (const Numbers& numbers : sums_) add_products(numbers);
    std::fill(sums_.begin(), sums_.end(), Numbers{});
    const auto groups = static_cast<double>(num_groups());
    std::array<double, kSize* kSize> result = products_;
    for (double& product : result) product *= groups > 1.0 ? groups / (groups - 1.0) : 1.0;
    return result;
  }

 private:
  void add_products(const Numbers& numbers) {
    for (std::size_t i = 0; i < kSize; ++i) {
      for (std::size_t j = 0; j < kSize; ++j) products_[i * kSize + j] += numbers[i] * numbers[j];
    }
  }

  std::span<const std::uint32_t> cluster_;
  std::vector<Numbers> sums_;
  std::vector<std::uint8_t> seen_;
  std::array<double, kSize * kSize> products_{};
  std::size_t num_groups_ = 0;
};

}  // namespace dfcl::train
