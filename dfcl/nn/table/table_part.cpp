// SPDX-License-Identifier: Apache-2.0
//
// Networks for tables as a part of a model file: weights are tensors network.<number>.<layer>, the encoding tensors of
// its own (inputs/table_encoding.h), shape and outcomes JSON. And the network in words.
#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/count_text.h"
#include "dfcl/learn/facts_json.h"
#include "dfcl/nn/outcomes_json.h"
#include "dfcl/nn/table/table_predictor.h"

namespace dfcl::nn {
namespace {

using core::plural;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kMostNetworks = 1'000;

ordered_json parts_json(const TableParts& parts, const learn::Origin& outcomes) {
  ordered_json value = {
      {"width", parts.options.width}, {"members", parts.options.members}, {"networks", parts.networks.size()}};
  value.update(outcomes_json(outcomes));
  return value;
}

// Returns the number of networks.
std::size_t set_parts(TableParts& parts, const json& value) {
  const learn::Origin outcomes = outcomes_of(value);
  parts.options = {.width = learn::size_of(value.at("width")),
                   .members = learn::size_of(value.at("members")),
                   .revenue = outcomes.facts.revenue,
                   .cost = outcomes.facts.cost};
  parts.revenue_form = outcomes.revenue_form;
  parts.efficiency_cost_scale = outcomes.efficiency_cost_scale;
  parts.scales = outcomes.scales;
  return learn::size_of(value.at("networks"));
}

std::string features_text(const TableEncoding& encoding) {
  std::size_t bins = 0;
  std::size_t levels = 0;
  for (const TableColumn& column : encoding.columns()) {
    if (column.kind == TableColumnKind::number) bins += column.num_bins();
    if (column.kind == TableColumnKind::category) levels += column.num_weights;
  }
  const Preprocessing& preprocessing = encoding.preprocessing();
  std::string text =
      fmt::format("{}: {} in {}", plural(preprocessing.num_features(), "column", "columns"),
                  plural(preprocessing.numbers().size(), "number", "numbers"), plural(bins, "bin", "bins"));
  if (levels > 0)
    text += fmt::format(", {} of {}", plural(levels, "level", "levels"),
                        plural(preprocessing.categories().size(), "category", "categories"));
  return text;
}

std::string network_text(const TableParts& parts) {
  const std::size_t count = parts.networks.size();
  std::string text = count == 1 ? "" : fmt::format("the mean of {}: ", plural(count, "network", "networks"));
  text += fmt::format("for tables, {} around shared layers of {} and {}",
                      plural(parts.options.members, "member", "members"), parts.options.width, parts.options.width);
  return text +
         fmt::format("; {} parameters{}", core::count_text(parts.networks.front().size()), count == 1 ? "" : " each");
}

}  // namespace

void TablePredictor::save(learn::PartWriter part) const {
  part.text("network", parts_json(parts_, *origin()).dump());
  put_encoding(part, parts_.encoding);
  for (std::size_t i = 0; i < parts_.networks.size(); ++i) {
    for (const Tensor& tensor : networks_.front()->tensors()) {
      const auto begin = parts_.networks[i].begin() + static_cast<std::ptrdiff_t>(tensor.offset);
      part.tensor(fmt::format("network.{}.{}", i, tensor.name), {tensor.rows, tensor.cols},
                  std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(tensor.size())));
    }
  }
}

std::unique_ptr<learn::Predictor> load_table_network(const learn::PartReader& part) {
  TableParts parts;
  std::size_t num_networks = 0;
  read_json(part, "network", [&](const json& value) { num_networks = set_parts(parts, value); });
  if (num_networks == 0 || num_networks > kMostNetworks) part.refuse("a model file with a wrong number of networks");
  parts.encoding = encoding_of(part, part.schema().features.size());
  // The numbers of all tensors of a network, one after the other. That names, shapes and order are right is seen when
  // the model is written again.
  parts.networks.resize(num_networks);
  for (std::size_t i = 0; i < num_networks; ++i) {
    for (const auto& [name, tensor] : part.tensors(fmt::format("network.{}.", i))) {
      const auto* values = std::get_if<std::vector<float>>(&tensor->values);
      if (values == nullptr) part.refuse_tensor(name);
      parts.networks[i].insert(parts.networks[i].end(), values->begin(), values->end());
    }
  }
  require_consistent(parts, part.schema(), part.where());  // before anything of its size is made
  return std::make_unique<TablePredictor>(std::move(parts));
}

learn::Description TablePredictor::describe(const learn::Schema& schema) const {
  const ordered_json json = {{"inputs", parts_.encoding.preprocessing().names(schema.features)},
                             {"network",
                              {{"kind", "table"},
                               {"width", parts_.options.width},
                               {"members", parts_.options.members},
                               {"rows", parts_.encoding.num_weights()},
                               {"parameters", parts_.networks.front().size()},
                               {"networks", parts_.networks.size()}}}};
  return {{parts_.options.revenue, parts_.options.cost},
          parts_.scales,
          {{"features", features_text(parts_.encoding)}, {"network", network_text(parts_)}},
          json.dump(-1, ' ', false, ordered_json::error_handler_t::replace)};
}

}  // namespace dfcl::nn
