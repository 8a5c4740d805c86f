// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/folds.h"

#include <algorithm>
#include <array>
#include <vector>

#include "dfcl/core/hash.h"
#include "dfcl/data/unit_key.h"

namespace dfcl::train {
namespace {

std::size_t fold_of(const data::Trial& trial, std::uint32_t row) {
  return core::combine_hashes(core::hash_text("fold"), data::group_key(trial, row)) % kFolds;
}

std::size_t count_groups(const data::Trial& trial, const core::Column<std::uint32_t>& rows) {
  if (!trial.has_clusters()) return rows.size();
  std::vector<std::uint8_t> seen(trial.num_clusters);
  for (const std::uint32_t row : rows) seen[trial.cluster[row]] = 1;
  return static_cast<std::size_t>(std::count(seen.begin(), seen.end(), 1));
}

}  // namespace

HeldUnits held_units(const data::Trial& trial, const Preparation& prepared, const core::RunContext& context) {
  HeldUnits units{core::Column<std::uint32_t>(context.scratch()), core::Column<std::uint8_t>(context.scratch()),
                  core::Column<std::uint8_t>(context.scratch())};
  std::array<std::size_t, kFolds> training{};
  for (std::size_t row = 0; row < trial.num_units(); ++row) {
    if (trial.split[row] == data::Split::test) continue;
    const bool trains = prepared.is_training[row] != 0;
    units.rows.push_back(static_cast<std::uint32_t>(row));
    units.fold.push_back(static_cast<std::uint8_t>(fold_of(trial, units.rows.back())));
    units.is_training.push_back(trains ? 1 : 0);
    if (trains) ++training[units.fold.back()];
  }
  units.num_groups = count_groups(trial, units.rows);
  units.every_fold_ = std::all_of(training.begin(), training.end(), [](std::size_t count) { return count > 0; });
  return units;
}

FoldRows fold_rows(const HeldUnits& units, std::size_t fold, const core::RunContext& context) {
  FoldRows rows{core::Column<std::uint32_t>(context.scratch()), core::Column<std::uint32_t>(context.scratch()),
                core::Column<std::uint32_t>(context.scratch()), core::Column<std::uint32_t>(context.scratch()),
                core::Column<std::uint32_t>(context.scratch())};
  for (std::size_t place = 0; place < units.size(); ++place) {
    const std::uint32_t row = units.rows[place];
    if (units.fold[place] == fold) {
      rows.held.push_back(row);
      rows.places.push_back(static_cast<std::uint32_t>(place));
    } else {
      rows.seen.push_back(row);
      (units.is_training[place] != 0 ? rows.train : rows.validation).push_back(row);
    }
  }
  return rows;
}

}  // namespace dfcl::train
