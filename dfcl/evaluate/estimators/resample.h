// SPDX-License-Identifier: Apache-2.0
//
// Resample weights made on the fly: how often a unit (or cluster) is in a resample. Resamples come in blocks of
// kLanes; a block's weights of one unit are one call of the counter-based generator at (seed, hash of its id, block),
// so they can be made in any order, on any thread or machine, and nothing of size units x resamples is ever kept.
//
// Poisson: a byte a weight. The law is Poisson(1) in steps of 1/256, chosen so that mean and variance are exactly 1:
// 94, 95, 46, 16, 4, 1 of 256 for 0 to 5. About 3 ns for the 16 weights of a unit, no memory.
// Multinomial: as many draws as units, within each arm (without propensities). 16 bytes a unit and thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dfcl/evaluate/estimators/trial_rows.h"

namespace dfcl::evaluate {

inline constexpr std::size_t kLanes = 16;
// Numbers of one block of resamples.
using Lanes = std::array<double, kLanes>;

enum class Weights : std::uint8_t { poisson, multinomial };

class ResampleBlock {
 public:
  static constexpr std::size_t kTile = 64;
  using Tile = std::array<std::array<std::uint8_t, kLanes>, kTile>;  // rows x resamples

  // A block of ones: the trial itself.
  static ResampleBlock ones() { return ResampleBlock(); }
  ResampleBlock(const TrialRows& rows, Weights kind, std::uint64_t seed, std::size_t block);

  // The weights of up to kTile rows.
  void fill(std::span<const std::uint32_t> rows, Tile& weights) const;
  // The same of steps that carry `row` and its `key` (TrialRows::group_key): no look-up in an order that memory cannot
  // foresee.
  template <class Step>
  void fill_keyed(std::span<const Step> steps, Tile& weights) const {
    if (rows_ != nullptr && kind_ == Weights::poisson) {
      std::uint64_t keys[kTile] = {};
      for (std::size_t i = 0; i < steps.size(); ++i) keys[i] = steps[i].key;
      draw_poisson(keys, weights);
      return;
    }
    std::uint32_t rows[kTile];
    for (std::size_t i = 0; i < steps.size(); ++i) rows[i] = steps[i].row;
    fill({rows, steps.size()}, weights);
  }

 private:
  ResampleBlock() = default;
  void draw_poisson(const std::uint64_t* keys, Tile& weights) const;  // of kTile rows
  void draw_multinomial();

  const TrialRows* rows_ = nullptr;  // null: ones
  Weights kind_ = Weights::poisson;
  std::uint64_t seed_ = 0;
  std::size_t block_ = 0;
  std::vector<std::array<std::uint8_t, kLanes>> drawn_;  // multinomial: per group
};

// The Poisson weights of ResampleBlock::kTile groups in a block of resamples, by their keys (TrialRows::group_key).
void draw_poisson_tile(std::uint64_t seed, std::size_t block, const std::uint64_t* keys, ResampleBlock::Tile& weights);

}  // namespace dfcl::evaluate
