// SPDX-License-Identifier: Apache-2.0
//
// All that a tree reads of a training unit, side by side in whole cache lines: its sums (working_units.h), its arm and
// the bins of its features. Nodes deep in a tree have few units far apart in memory, and this way each costs one or
// two lines instead of one for every feature. Memory: features + 17 bytes a unit, rounded up to 64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/forest/working_units.h"
#include "dfcl/trees/feature_bins.h"

namespace dfcl::forest {

using trees::FeatureBins;

class UnitRecords {
 public:
  // rows: the training units among the rows of values, units x features; one for each of the working units.
  UnitRecords(const std::vector<FeatureBins>& features, core::MatrixView<const float> values,
              std::span<const std::uint32_t> rows, const WorkingUnits& working, core::RunContext& context);

  std::size_t num_units() const { return num_units_; }
  const Sums& sums(std::size_t unit) const { return *reinterpret_cast<const Sums*>(record(unit)); }
  std::uint8_t arm(std::size_t unit) const { return record(unit)[kArmPlace]; }
  // A byte for each feature.
  const std::uint8_t* bins(std::size_t unit) const { return record(unit) + kFirstBin; }
  void prefetch(std::size_t unit) const {
    for (std::size_t line = 0; line < lines_per_unit_; ++line)
      __builtin_prefetch(&lines_[unit * lines_per_unit_ + line]);
  }
  void prefetch_bin(std::size_t unit, std::size_t feature) const { __builtin_prefetch(bins(unit) + feature); }

 private:
  static constexpr std::size_t kArmPlace = sizeof(Sums);
  static constexpr std::size_t kFirstBin = kArmPlace + 1;
  struct alignas(64) Line {
    std::uint8_t bytes[64];
  };
  const std::uint8_t* record(std::size_t unit) const { return lines_[unit * lines_per_unit_].bytes; }

  std::size_t num_units_;
  std::size_t lines_per_unit_;
  std::vector<Line> lines_;
};

}  // namespace dfcl::forest
