// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/outcomes_json.h"

#include <fmt/format.h>

#include "dfcl/io/tensors/strict_json.h"
#include "dfcl/learn/facts_json.h"

namespace dfcl::nn {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kMostDepth = 4;                                                            // of JSON
constexpr const char* kForms[] = {"outcome", "drm_scores", "drp_scores", "dpm_scores"};  // loss::RevenueForm

ordered_json outcome_json(const learn::OutcomeFacts& facts, const learn::OutcomeScale& scale) {
  ordered_json value = learn::facts_json(facts);
  value["center"] = scale.center;
  value["scale"] = scale.scale;
  return value;
}

learn::OutcomeScale scale_of(const json& value) {
  return {value.at("center").get<double>(), value.at("scale").get<double>()};
}

}  // namespace

ordered_json outcomes_json(const learn::Origin& outcomes) {
  return {{"revenue_form", kForms[static_cast<std::size_t>(outcomes.revenue_form)]},
          {"efficiency_cost_scale", outcomes.efficiency_cost_scale},
          {"revenue", outcome_json(outcomes.facts.revenue, outcomes.scales.revenue)},
          {"cost", outcome_json(outcomes.facts.cost, outcomes.scales.cost)}};
}

learn::Origin outcomes_of(const json& value) {
  return {.facts = {learn::facts_of(value.at("revenue")), learn::facts_of(value.at("cost"))},
          .scales = {scale_of(value.at("revenue")), scale_of(value.at("cost"))},
          .revenue_form = learn::enum_of<loss::RevenueForm>(value.at("revenue_form"), kForms),
          .efficiency_cost_scale = value.at("efficiency_cost_scale").get<double>()};
}

void read_json(const learn::PartReader& part, const std::string& name, const std::function<void(const json&)>& set) {
  const json value = io::parse_strictly(part.text(name), kMostDepth, part.where());
  try {
    set(value);
  } catch (const std::exception&) {  // of the JSON library, or of a number that does not fit
    part.refuse(fmt::format("a model file with a malformed part '{}'", name));
  }
}

}  // namespace dfcl::nn
