// SPDX-License-Identifier: Apache-2.0
//
// Which column says the arm, and which arm is control. An arm that was drawn at random goes together with nothing that
// was measured before it; other columns go together with each other. Where several are like that, names and labels
// decide, and of two ways to write the same arms the finer one. Time: candidates x columns x 20,000 rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dfcl/check/roles/arm_difference.h"
#include "dfcl/data/table_sample.h"
#include "dfcl/data/table_summary.h"

namespace dfcl::check {

struct ArmChoice {
  std::optional<std::size_t> column;  // none: nothing can be the arm
  bool is_sure = false;
  std::string reason;
  std::vector<std::string> labels;  // numbers from low to high, else most frequent first
  bool is_graded = false;           // numbers, more than two
  std::optional<std::string> control;
  bool control_is_sure = false;
  std::string control_reason;
  ArmCodes codes;  // of the rows of the sample; control 0 where none was found
};

struct ArmHints {
  std::optional<std::string> arm;
  std::optional<std::string> control;
};

// A hint must name a column that is there; a control that is no arm leaves the choice open.
ArmChoice choose_arm(const data::TableSummary& summary, const data::TableSample& sample, const ArmHints& hints);

}  // namespace dfcl::check
