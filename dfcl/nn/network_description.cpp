// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dfcl/core/count_text.h"
#include "dfcl/nn/network_predictor.h"

namespace dfcl::nn {
namespace {

using core::plural;
using nlohmann::ordered_json;

std::string features_text(const Preprocessing& preprocessing) {
  const auto logs = std::count_if(preprocessing.numbers().begin(), preprocessing.numbers().end(),
                                  [](const NumberInput& number) { return number.log_factor != 0.0f; });
  std::string text = fmt::format("{} make {}: {}", plural(preprocessing.num_features(), "column", "columns"),
                                 plural(preprocessing.num_inputs(), "input", "inputs"),
                                 plural(preprocessing.numbers().size(), "number", "numbers"));
  if (logs > 0) text += fmt::format(" ({} on a log scale)", logs);
  if (!preprocessing.indicators().empty())
    text += fmt::format(", {}", plural(preprocessing.indicators().size(), "mark", "marks") + " of missing values");
  std::size_t levels = 0;
  for (const CategoryInput& category : preprocessing.categories()) levels += category.share.size();
  if (levels > 0)
    text += fmt::format(", {} of {}", plural(levels, "level", "levels"),
                        plural(preprocessing.categories().size(), "category", "categories"));
  return text;
}

std::string network_text(const NetworkParts& parts) {
  const std::size_t members = parts.members.size();
  std::string text = members == 1 ? "" : fmt::format("the mean of {}: ", plural(members, "network", "networks"));
  text += fmt::format("{} inputs", parts.network.inputs);
  if (!parts.network.shared.empty()) text += fmt::format(", shared layers {}", fmt::join(parts.network.shared, "-"));
  if (parts.network.heads && !parts.network.heads->empty())
    text += fmt::format(", a head {} for each output", fmt::join(*parts.network.heads, "-"));
  return text +
         fmt::format("; {} parameters{}", core::count_text(parts.members.front().size()), members == 1 ? "" : " each");
}

}  // namespace

learn::Description NetworkPredictor::describe(const learn::Schema& schema) const {
  const OutcomeNetworkOptions& network = parts_.network;
  const ordered_json json = {{"inputs", parts_.preprocessing.names(schema.features)},
                             {"network",
                              {{"inputs", network.inputs},
                               {"shared", network.shared},
                               {"heads", network.heads ? ordered_json(*network.heads) : ordered_json()},
                               {"parameters", parts_.members.front().size()},
                               {"members", parts_.members.size()}}}};
  return {{network.revenue, network.cost},
          parts_.scales,
          {{"features", features_text(parts_.preprocessing)}, {"network", network_text(parts_)}},
          json.dump(-1, ' ', false, ordered_json::error_handler_t::replace)};
}

}  // namespace dfcl::nn
