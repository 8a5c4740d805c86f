// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/table/table_predictor.h"

#include <algorithm>

#include "dfcl/core/error.h"
#include "dfcl/nn/network_outcomes.h"

namespace dfcl::nn {
namespace {

constexpr std::size_t kBlockUnits = 65'536;  // whose sums over networks are kept at a time

// Parameters are counted before anything of their size is made.
void require_networks(const TableParts& parts, const PartsCheck& check) {
  std::size_t size = 0;
  try {
    size = num_table_parameters(parts.encoding, parts.options);
  } catch (const core::Error&) {
    check.require(false, "heads that contradict themselves");
  }
  check.require(size > 0, "size of the network");
  check.require_parameters(parts.networks, static_cast<double>(size), "no networks");
}

learn::Origin outcomes_of(const TableParts& parts) {
  return {{parts.options.revenue, parts.options.cost},
          parts.scales,
          parts.revenue_form,
          parts.efficiency_cost_scale,
          parts.networks.size()};
}

}  // namespace

void require_consistent(const TableParts& parts, const learn::Schema& schema, const std::string& where) {
  const PartsCheck check(schema, where);
  const learn::Origin outcomes = outcomes_of(parts);
  check.require_arms(outcomes);
  check.require_features(parts.encoding.preprocessing());
  require_networks(parts, check);
  check.require_scales(outcomes);
}

TablePredictor::TablePredictor(TableParts parts) : parts_(std::move(parts)) {
  for (const std::vector<float>& parameters : parts_.networks) add_network(parameters);
  runner_ = std::make_unique<TableRunner>(*networks_.front());
}

void TablePredictor::add_network(const std::vector<float>& parameters) {
  auto network = std::make_unique<TableNetwork<float>>(parts_.encoding, parts_.options);
  std::ranges::copy(parameters, network->parameters().begin());
  network->refresh();
  networks_.push_back(std::move(network));
}

void TablePredictor::run(const learn::FeatureTile& units, const learn::Scales& scales, learn::Outcomes out,
                         core::RunContext& context) const {
  const std::size_t num_arms = out.cost.cols;
  const double count = static_cast<double>(networks_.size() * parts_.options.members);
  for (std::size_t begin = 0; begin < units.size(); begin += kBlockUnits) {
    const std::size_t size = std::min(kBlockUnits, units.size() - begin);
    std::vector<double> revenue(size * num_arms), cost(size * num_arms);
    for (const auto& network : networks_) {
      runner_->run(context, *network, units.slice(begin, size),
                   [&](std::size_t first, std::size_t tile_units, TableTile<float>& tile) {
                     add_predictions(parts_.revenue_form, parts_.efficiency_cost_scale, tile.revenue(), tile.cost(),
                                     tile_units * parts_.options.members, tile_units, revenue.data() + first * num_arms,
                                     cost.data() + first * num_arms);
                   });
    }
    set_means(scales, count, revenue.data(), cost.data(), out.slice(begin, size));
  }
}

void TablePredictor::predict(const learn::FeatureTile& units, learn::Outcomes out, core::RunContext& context) const {
  run(units, parts_.scales, out, context);
}

// A network predicts on its own scales, and 0 + 1 x is x.
void TablePredictor::predict_scaled(const learn::FeatureTile& units, const learn::Scales& scales, learn::Outcomes out,
                                    core::RunContext& context) const {
  if (scales == parts_.scales) return run(units, {}, out, context);
  learn::Predictor::predict_scaled(units, scales, out, context);
}

bool TablePredictor::join(const learn::Predictor& other) {
  const auto* table = dynamic_cast<const TablePredictor*>(&other);
  if (table == nullptr) return false;
  const TableParts& theirs = table->parts_;
  if (!(theirs.encoding == parts_.encoding && theirs.options == parts_.options && theirs.scales == parts_.scales &&
        theirs.revenue_form == parts_.revenue_form && theirs.efficiency_cost_scale == parts_.efficiency_cost_scale))
    return false;
  for (const std::vector<float>& network : theirs.networks) {
    parts_.networks.push_back(network);
    add_network(network);
  }
  return true;
}

std::optional<learn::Origin> TablePredictor::origin() const { return outcomes_of(parts_); }

void TablePredictor::require_fits(const learn::Schema& schema, const std::string& where) const {
  require_consistent(parts_, schema, where);
}

}  // namespace dfcl::nn
