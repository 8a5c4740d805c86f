// SPDX-License-Identifier: Apache-2.0
//
// Columns that must not be features: other ways to write the arm, what was measured after it was drawn, what tells the
// outcome, names of units. Each with its reason. Time: a few passes per column.
#pragma once

#include <string>
#include <vector>

#include "dfcl/check/roles/outcomes.h"
#include "dfcl/data/table_summary.h"

namespace dfcl::check {

struct LeftOut {
  std::size_t column = 0;
  bool is_sure = false;  // the data show it; else its name, or a difference that may be an imbalance
  std::string reason;
};

struct Leaks {
  std::vector<LeftOut> left_out;        // in the order of the columns
  std::vector<std::size_t> imbalanced;  // kept, though they differ a little between the arms
};

Leaks find_leaks(const data::TableSummary& summary, const data::TableSample& sample, const ColumnEvidence& evidence,
                 const ArmChoice& arm, std::optional<std::size_t> revenue);

}  // namespace dfcl::check
