// SPDX-License-Identifier: Apache-2.0
//
// Were the arms drawn for groups of rows, and which column names the groups? One whose rows share their arm far more
// often than by chance. Time: one pass per column of many values. Memory: 8 bytes a value.
#pragma once

#include <optional>
#include <vector>

#include "dfcl/check/roles/arm_choice.h"
#include "dfcl/data/table_sample.h"

namespace dfcl::check {

struct DrawGroups {
  std::optional<std::size_t> column;
  std::size_t num_groups = 0;  // with more than one row
  double mixed_share = 0.0;    // of these, with more than one arm
};

// unique: columns with a value of its own for each row (they group nothing).
DrawGroups find_draw_groups(const data::TableSample& sample, const ArmChoice& arm, const std::vector<bool>& unique);

}  // namespace dfcl::check
