// SPDX-License-Identifier: Apache-2.0
//
// A trial in memory that grows by simulated rows, without a file in between: first the random trial before a launch,
// then each day's explored units. Memory: that of the trial.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"
#include "dfcl/simulate/simulator.h"

namespace dfcl::launch {

// From the columns of simulated units to the rows of a feature matrix. The levels of a category are all that the
// simulator can make, known from a first sample; others count as pooled.
class FeatureCoder {
 public:
  FeatureCoder(const std::vector<data::ColumnInfo>& columns, const simulate::UnitBlock& sample);

  const std::vector<data::FeatureColumn>& columns() const { return columns_; }
  // rows: places in the block.
  void encode(const simulate::UnitBlock& block, std::span<const std::uint32_t> rows, core::MatrixView<float> out) const;

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Codes = std::unordered_map<std::string, float, TextHash, std::equal_to<>>;
  std::vector<data::FeatureColumn> columns_;
  std::vector<Codes> codes_;  // per column; empty for numbers
};

// Some rows of a day, ready to join a trial.
struct TrialRows {
  core::Matrix<float> features;
  std::vector<std::int64_t> ids;
  std::vector<std::uint8_t> arm;
  std::vector<float> revenue;
  std::vector<float> cost;
};

// A trial without rows, with the arms of the simulator and the coder's features.
data::Trial empty_trial(const simulate::Simulator& simulator, const FeatureCoder& coder);

void append_rows(const TrialRows& rows, data::Trial& trial);

// Sets splits (by hash of the id) and the fingerprint, once the rows are all there.
void finish_trial(const data::Study::Split& split, core::RunContext& context, data::Trial& trial);

}  // namespace dfcl::launch
