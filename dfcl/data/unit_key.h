// SPDX-License-Identifier: Apache-2.0
//
// 64-bit keys of units and of the groups they are drawn in. A key is a hash of what the unit is called, so whatever is
// keyed by it (ties, folds, weights of resamples) does not depend on the order of the rows or on how they are cut into
// files. Where a trial has no ids, the key is that of the row's number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dfcl/data/trial.h"

namespace dfcl::data {

// Of the id, and of the time where the trial has times: a unit is then (id, time).
std::uint64_t unit_key(const Trial& trial, std::size_t row);

// A row with its key.
struct KeyedRow {
  std::uint64_t key = 0;
  std::size_t row = 0;
};
// By key; rows of one key, which a trial should not have, by what happened to them.
void sort_by_key(const Trial& trial, std::vector<KeyedRow>& rows);

// Of the cluster where the trial has clusters, else of the unit.
std::uint64_t group_key(const Trial& trial, std::size_t row);

}  // namespace dfcl::data
