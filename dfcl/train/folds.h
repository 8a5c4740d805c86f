// SPDX-License-Identifier: Apache-2.0
//
// The units that stacking and calibration look at, training and validation units together, and their folds: by cluster
// or id, never by row number. A fit for a fold sees nothing of the fold, not even to know when to stop, so its
// predictions of the fold are out of sample in every way. Memory: 9 bytes per unit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dfcl/core/column.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/trial.h"
#include "dfcl/train/preparation.h"

namespace dfcl::train {

inline constexpr std::size_t kFolds = 3;
// Fewer units, or clusters of them, than this say nothing about predictions.
inline constexpr std::size_t kLeastGroups = 20;

struct HeldUnits {
  core::Column<std::uint32_t> rows;  // of the trial, rising
  core::Column<std::uint8_t> fold;
  core::Column<std::uint8_t> is_training;  // else it validates
  std::size_t num_groups = 0;              // clusters, or units where there are none

  std::size_t size() const { return rows.size(); }
  // There are groups enough, and training units in and outside of every fold.
  bool are_enough() const { return num_groups >= kLeastGroups && every_fold_; }
  bool every_fold_ = false;
};
HeldUnits held_units(const data::Trial& trial, const Preparation& prepared, const core::RunContext& context);

// What a fit for a fold may see, and the places of the fold's units among the held ones.
struct FoldRows {
  core::Column<std::uint32_t> seen;  // train and validation together, rising
  core::Column<std::uint32_t> train;
  core::Column<std::uint32_t> validation;
  core::Column<std::uint32_t> held;    // rows of the trial
  core::Column<std::uint32_t> places;  // of them, among the held units
};
FoldRows fold_rows(const HeldUnits& units, std::size_t fold, const core::RunContext& context);

}  // namespace dfcl::train
