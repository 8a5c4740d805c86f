// SPDX-License-Identifier: Apache-2.0
//
// Networks as a part of a model file: weights are tensors network.<member>.<layer>, the preprocessing tensors of its
// own (inputs/preprocessing_tensors.h), shape and outcomes JSON.
#include <fmt/format.h>

#include <algorithm>

#include "dfcl/learn/facts_json.h"
#include "dfcl/nn/inputs/preprocessing_tensors.h"
#include "dfcl/nn/network_predictor.h"
#include "dfcl/nn/outcomes_json.h"

namespace dfcl::nn {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kMostNamedTensors = 2'000;  // beyond, the parameters of a member are one tensor
constexpr std::size_t kMostMembers = 1'000;

ordered_json network_json(const OutcomeNetworkOptions& network) {
  ordered_json value = {{"inputs", network.inputs}, {"shared", network.shared}};
  if (network.heads) value["heads"] = *network.heads;
  return value;
}

std::vector<std::size_t> sizes_of(const json& value) {
  std::vector<std::size_t> sizes;
  for (const json& size : value) sizes.push_back(learn::size_of(size));
  return sizes;
}

void set_network(OutcomeNetworkOptions& network, const json& value) {
  network.inputs = learn::size_of(value.at("inputs"));
  network.shared = sizes_of(value.at("shared"));
  if (value.contains("heads")) network.heads = sizes_of(value["heads"]);
}

void set_outcomes(NetworkParts& parts, const learn::Origin& outcomes) {
  parts.revenue_form = outcomes.revenue_form;
  parts.efficiency_cost_scale = outcomes.efficiency_cost_scale;
  parts.network.revenue = outcomes.facts.revenue;
  parts.network.cost = outcomes.facts.cost;
  parts.scales = outcomes.scales;
}

// In the order of the parameter vector.
void put_members(const learn::PartWriter& part, const NetworkParts& parts) {
  const OutcomeNetwork<float> outcome_network(parts.network);
  std::vector<Tensor> tensors = outcome_network.network().tensors();
  std::sort(tensors.begin(), tensors.end(), [](const Tensor& a, const Tensor& b) { return a.offset < b.offset; });
  const bool named = tensors.size() * parts.members.size() <= kMostNamedTensors;
  for (std::size_t member = 0; member < parts.members.size(); ++member) {
    const std::vector<float>& parameters = parts.members[member];
    if (!named) {
      part.tensor(fmt::format("network.{}", member), {parameters.size()}, parameters);
      continue;
    }
    for (const Tensor& tensor : tensors) {
      const auto begin = parameters.begin() + static_cast<std::ptrdiff_t>(tensor.offset);
      std::vector<std::uint64_t> shape = {tensor.rows};
      if (tensor.name.ends_with("weight")) shape.push_back(tensor.cols);
      part.tensor(fmt::format("network.{}.{}", member, tensor.name), shape,
                  std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(tensor.size())));
    }
  }
}

// The numbers of all tensors of a member, one after the other. That names, shapes and order are right is seen when the
// model is written again.
std::vector<std::vector<float>> members_of(const learn::PartReader& part) {
  const std::uint64_t num_members = part.number("members");
  if (num_members == 0 || num_members > kMostMembers) part.refuse("a model file with a wrong number of members");
  std::vector<std::vector<float>> members(num_members);
  constexpr std::string_view kPrefix = "network.";
  for (const auto& [name, tensor] : part.tensors(std::string(kPrefix))) {
    const std::string number = name.substr(kPrefix.size(), name.find('.', kPrefix.size()) - kPrefix.size());
    const std::uint64_t member = learn::whole_number(number, part.where());
    const auto* values = std::get_if<std::vector<float>>(&tensor->values);
    if (member >= num_members || values == nullptr) part.refuse("a model file with a tensor of no member");
    members[member].insert(members[member].end(), values->begin(), values->end());
  }
  return members;
}

}  // namespace

void NetworkPredictor::save(learn::PartWriter part) const {
  part.text("members", std::to_string(parts_.members.size()));
  part.text("network", network_json(parts_.network).dump());
  part.text("outcomes", outcomes_json(*origin()).dump());
  put_preprocessing(part, parts_.preprocessing);
  put_members(part, parts_);
}

std::unique_ptr<learn::Predictor> load_network(const learn::PartReader& part) {
  NetworkParts parts;
  read_json(part, "network", [&](const json& value) { set_network(parts.network, value); });
  read_json(part, "outcomes", [&](const json& value) { set_outcomes(parts, outcomes_of(value)); });
  parts.preprocessing = preprocessing_of(part, part.schema().features.size());
  parts.members = members_of(part);
  require_consistent(parts, part.schema(), part.where());  // before anything of its size is made
  return std::make_unique<NetworkPredictor>(std::move(parts));
}

}  // namespace dfcl::nn
