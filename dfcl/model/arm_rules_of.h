// SPDX-License-Identifier: Apache-2.0
//
// What a model knows about its outcomes over the arms, as rules for the predictions of a forest. Used by training too.
#pragma once

#include "dfcl/forest/arm_rules.h"
#include "dfcl/nn/outcome_head.h"

namespace dfcl::model {

inline forest::ArmRules arm_rules_of(const nn::OutcomeOptions& outcome) {
  forest::ArmRules rules;
  rules.rises = outcome.arm_shape != nn::ArmShape::plain;
  rules.control_is_free = outcome.control_is_free;
  if (outcome.non_negative || outcome.kind != loss::OutcomeKind::real) rules.least = 0.0;
  if (outcome.kind == loss::OutcomeKind::binary) rules.most = 1.0;
  return rules;
}

}  // namespace dfcl::model
