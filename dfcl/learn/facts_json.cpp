// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/facts_json.h"

namespace dfcl::learn {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kKinds[] = {"real", "non_negative", "binary"};  // loss::OutcomeKind
constexpr const char* kShapes[] = {"plain", "monotone", "concave"};   // ArmShape

}  // namespace

const char* kind_word(loss::OutcomeKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
const char* shape_word(ArmShape shape) { return kShapes[static_cast<std::size_t>(shape)]; }

std::size_t size_of(const json& value) {
  if (!value.is_number_unsigned()) throw json::other_error::create(501, "not a whole number", nullptr);
  return value.get<std::size_t>();
}

ordered_json facts_json(const OutcomeFacts& facts) {
  ordered_json value = {
      {"kind", kind_word(facts.kind)},      {"arm_shape", shape_word(facts.arm_shape)}, {"num_arms", facts.num_arms},
      {"non_negative", facts.non_negative}, {"control_is_free", facts.control_is_free}, {"control", facts.control}};
  if (facts.arms_apart) value["arms_apart"] = true;
  return value;
}

OutcomeFacts facts_of(const json& value) {
  OutcomeFacts facts;
  facts.kind = enum_of<loss::OutcomeKind>(value.at("kind"), kKinds);
  facts.arm_shape = enum_of<ArmShape>(value.at("arm_shape"), kShapes);
  facts.num_arms = size_of(value.at("num_arms"));
  facts.non_negative = value.at("non_negative").get<bool>();
  facts.control_is_free = value.at("control_is_free").get<bool>();
  facts.control = size_of(value.at("control"));
  if (value.contains("arms_apart")) facts.arms_apart = value.at("arms_apart").get<bool>();
  return facts;
}

ordered_json facts_json(const Facts& facts) {
  return {{"revenue", facts_json(facts.revenue)}, {"cost", facts_json(facts.cost)}};
}

Facts both_facts_of(const json& value) { return {facts_of(value.at("revenue")), facts_of(value.at("cost"))}; }

}  // namespace dfcl::learn
