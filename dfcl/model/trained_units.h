// SPDX-License-Identifier: Apache-2.0
//
// Which units a model was trained on, or chosen by (validation units: they stop fits, weigh members and calibrate), so
// that nobody scores it on them by mistake. Kept are the rule of the split (a
// split by hash then tells every unit's part exactly), the fingerprint of the trial, and a sketch of the keys of the
// training units: the kMostKeys smallest hashes. For trials of at most kMostKeys training units the sketch is all of
// them; for larger ones the units whose hash falls below the largest kept are a fair sample, of which it is known
// exactly who was trained on. A sample of 16,384 of 8 million finds an overlap of 2,300 units with 99 % probability.
// Memory: at most 128 KiB. Time: one hash a unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"

namespace dfcl::model {

inline constexpr std::size_t kMostKeys = 16'384;
// Of the sketch that predictions carry, 16 letters each: finds an overlap of one in 200 of the training units with 99 %
// probability.
inline constexpr std::size_t kMostCarriedKeys = 1024;

struct TrainedUnits {
  data::Study::Split split;  // the rule
  std::uint64_t trial_fingerprint = 0;
  std::uint64_t num_units = 0;      // trained on, without those that it was chosen by
  std::vector<std::uint64_t> keys;  // rising, at most most_keys
  std::size_t most_keys = kMostKeys;
};

// is_training: one byte a unit of the trial, 1 for those whose keys are kept.
TrainedUnits trained_units(const data::Trial& trial, const data::Study::Split& split,
                           std::span<const std::uint8_t> is_training);

// Adds what a model had been trained on that this training started from. Row numbers of another trial are other units.
void add_earlier(TrainedUnits& trained, const TrainedUnits& earlier);

// What predictions carry of it: "units:trial's fingerprint:keys", hexadecimal but for the number of units.
std::string carried_text(const TrainedUnits& trained);
// Throws Error of kind data, with `where`, for any other text.
TrainedUnits parse_carried(const std::string& text, const std::string& where);

struct Overlap {
  std::size_t num_compared = 0;  // units whose place in the training data is known
  std::size_t num_trained = 0;   // of them, trained on
  bool is_exact = false;         // all units were compared

  double share() const {
    return num_compared == 0 ? 0.0 : static_cast<double>(num_trained) / static_cast<double>(num_compared);
  }
};

// How many of the chosen units (one byte a unit, empty: all) the model was trained on. A unit is its id and, where
// the trial has times, its time; row numbers are the same units only within the same trial.
Overlap overlap_with(const TrainedUnits& trained, const data::Trial& trial, std::span<const std::uint8_t> is_chosen);

}  // namespace dfcl::model
