// SPDX-License-Identifier: Apache-2.0
//
// A plan as a short rule: its questions, and what the units of each leaf get and are predicted to bring. A few
// kilobytes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dfcl/data/question_tree.h"

namespace dfcl::data {

struct RuleLeaf {
  std::string units;  // which, in words
  std::string arm;
  std::size_t num_units = 0;
  double revenue = 0.0;  // predicted, over control, per unit of the leaf
  double cost = 0.0;     // likewise
};

struct PlanRule {
  std::vector<QuestionNode> nodes;
  std::vector<RuleLeaf> leaves;
  double plan_value = 0.0;  // of the plan that it stands for, in total
};

}  // namespace dfcl::data
