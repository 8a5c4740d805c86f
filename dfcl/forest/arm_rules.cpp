// SPDX-License-Identifier: Apache-2.0
#include "dfcl/forest/arm_rules.h"

#include <algorithm>

#include "dfcl/learn/rising.h"

namespace dfcl::forest {

ArmRules arm_rules(const learn::OutcomeFacts& facts) {
  ArmRules rules;
  rules.rises = facts.arm_shape != learn::ArmShape::plain;
  rules.control_is_free = facts.control_is_free;
  if (facts.non_negative || facts.kind != loss::OutcomeKind::real) rules.least = 0.0;
  if (facts.kind == loss::OutcomeKind::binary) rules.most = 1.0;
  return rules;
}

void apply_rules(const ArmRules& rules, std::size_t control, std::span<const double> weights,
                 std::span<double> values) {
  if (rules.control_is_free) values[control] = 0.0;
  if (rules.rises) learn::make_rising(weights, values);
  // Pooling may have taken the others below a control that is set back to 0.
  const double least = rules.rises && rules.control_is_free ? std::max(rules.least, 0.0) : rules.least;
  for (double& value : values) value = std::clamp(value, least, rules.most);
  if (rules.control_is_free) values[control] = 0.0;
}

}  // namespace dfcl::forest
