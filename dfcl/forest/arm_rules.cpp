// SPDX-License-Identifier: Apache-2.0
#include "dfcl/forest/arm_rules.h"

#include <algorithm>
#include <vector>

namespace dfcl::forest {
namespace {

// Pools neighbours that fall until none does.
void make_rising(std::span<const double> weights, std::span<double> values) {
  struct Pool {
    double value;
    double weight;
    std::size_t size;
  };
  std::vector<Pool> pools;
  for (std::size_t arm = 0; arm < values.size(); ++arm) {
    pools.push_back({values[arm], weights[arm], 1});
    while (pools.size() > 1 && pools[pools.size() - 2].value > pools.back().value) {
      const Pool last = pools.back();
      pools.pop_back();
      Pool& joined = pools.back();
      const double weight = joined.weight + last.weight;
      joined = {(joined.value * joined.weight + last.value * last.weight) / weight, weight, joined.size + last.size};
    }
  }
  std::size_t arm = 0;
  for (const Pool& pool : pools)
    for (std::size_t i = 0; i < pool.size; ++i) values[arm++] = pool.value;
}

}  // namespace

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
  if (rules.rises) make_rising(weights, values);
  for (double& value : values) value = std::clamp(value, rules.least, rules.most);
  if (rules.control_is_free) values[control] = 0.0;
}

}  // namespace dfcl::forest
