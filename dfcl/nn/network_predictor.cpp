// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/network_predictor.h"

#include <algorithm>
#include <numeric>

#include "dfcl/core/error.h"
#include "dfcl/core/parallel.h"
#include "dfcl/nn/network_outcomes.h"

namespace dfcl::nn {
namespace {

constexpr std::size_t kChunkRows = 16 * kTileRows;
constexpr std::size_t kMostLayers = 100;

class NetworkCheck {
 public:
  NetworkCheck(const NetworkParts& parts, const PartsCheck& check) : parts_(parts), check_(check) {}

  // Parameters and neurons are counted before anything of their size is made.
  void check_network() const {
    const OutcomeNetworkOptions& network = parts_.network;
    require(network.inputs == parts_.preprocessing.num_inputs(), "inputs of the network");
    require(network.shared.size() <= kMostLayers && (!network.heads || network.heads->size() <= kMostLayers), "layers");
    const std::size_t num_outputs = outputs_of(network.revenue) + outputs_of(network.cost);
    double count = 0.0;
    std::size_t width = network.inputs;
    const auto add = [&](std::size_t groups, std::size_t outputs) {
      require(outputs > 0 && outputs <= kMostWidth, "widths of layers");
      count += static_cast<double>(groups) * static_cast<double>(outputs) * static_cast<double>(width + 1);
      width = outputs;
    };
    for (const std::size_t outputs : network.shared) add(1, outputs);
    if (network.heads) {
      for (const std::size_t outputs : *network.heads) add(num_outputs, outputs);
      add(num_outputs, 1);
    } else {
      add(1, num_outputs);
    }
    require(num_neurons(network) <= kMostNeurons, "size of the network");
    check_.require_parameters(parts_.members, count, "no members");
  }

 private:
  void require(bool good, const char* what) const { check_.require(good, what); }

  std::size_t outputs_of(const OutcomeOptions& head) const {
    try {
      return OutcomeHead<float>(head).num_outputs();
    } catch (const core::Error&) {
      require(false, "heads that contradict themselves");
    }
    return 0;
  }

  const NetworkParts& parts_;
  const PartsCheck& check_;
};

learn::Origin outcomes_of(const NetworkParts& parts) {
  return {{parts.network.revenue, parts.network.cost},
          parts.scales,
          parts.revenue_form,
          parts.efficiency_cost_scale,
          parts.members.size()};
}

}  // namespace

std::size_t num_neurons(const OutcomeNetworkOptions& network) {
  const auto sum = [](const std::vector<std::size_t>& widths) {
    return std::accumulate(widths.begin(), widths.end(), std::size_t{0});
  };
  const std::size_t num_heads =
      OutcomeHead<float>(network.revenue).num_outputs() + OutcomeHead<float>(network.cost).num_outputs();
  return network.inputs + sum(network.shared) + (network.heads ? num_heads * sum(*network.heads) : 0);
}

void require_consistent(const NetworkParts& parts, const learn::Schema& schema, const std::string& where) {
  const PartsCheck check(schema, where);
  const learn::Origin outcomes = outcomes_of(parts);
  check.require_arms(outcomes);
  check.require_features(parts.preprocessing);
  NetworkCheck(parts, check).check_network();
  check.require_scales(outcomes);
}

// What a thread needs for a tile of rows.
struct NetworkPredictor::Tile {
  Tile(const OutcomeNetwork<float>& member, std::size_t num_arms)
      : workspace(member), revenue(kTileRows * num_arms), cost(kTileRows * num_arms) {}

  TileWorkspace<float> workspace;
  std::vector<double> revenue;  // sums over members, rows x arms, scaled
  std::vector<double> cost;
};

NetworkPredictor::NetworkPredictor(NetworkParts parts) : parts_(std::move(parts)) {
  for (const std::vector<float>& parameters : parts_.members) add_member(parameters);
  tiles_ = std::make_unique<WorkspacePool<Tile>>(
      [this] { return std::make_unique<Tile>(networks_.front(), parts_.network.cost.num_arms); });
}

NetworkPredictor::~NetworkPredictor() = default;

void NetworkPredictor::add_member(const std::vector<float>& parameters) {
  OutcomeNetwork<float>& member = networks_.emplace_back(parts_.network);
  std::copy(parameters.begin(), parameters.end(), member.network().parameters().begin());
}

void NetworkPredictor::predict_tile(Tile& tile, const learn::FeatureTile& units, const learn::Scales& scales,
                                    learn::Outcomes out) const {
  const std::size_t rows = units.size();
  const core::MatrixView<float> inputs = tile.workspace.inputs().slice(0, rows);
  if (units.rows.empty()) {
    parts_.preprocessing.apply(units.values, inputs);
  } else {
    parts_.preprocessing.apply(units.values, units.rows, inputs);
  }
  std::fill(tile.revenue.begin(), tile.revenue.end(), 0.0);
  std::fill(tile.cost.begin(), tile.cost.end(), 0.0);
  for (const OutcomeNetwork<float>& member : networks_) {
    tile.workspace.predict(member, rows);
    add_predictions(parts_.revenue_form, parts_.efficiency_cost_scale, tile.workspace.revenue(), tile.workspace.cost(),
                    rows, rows, tile.revenue.data(), tile.cost.data());
  }
  set_means(scales, static_cast<double>(networks_.size()), tile.revenue.data(), tile.cost.data(), out);
}

void NetworkPredictor::run(const learn::FeatureTile& units, const learn::Scales& scales, learn::Outcomes out,
                           core::RunContext& context) const {
  core::for_each_chunk(context, units.size(), kChunkRows, [&](std::size_t begin, std::size_t end, std::size_t) {
    typename WorkspacePool<Tile>::Loan tile(*tiles_);
    for (std::size_t first = begin; first < end; first += kTileRows) {
      const std::size_t rows = std::min(kTileRows, end - first);
      predict_tile(*tile, units.slice(first, rows), scales, out.slice(first, rows));
    }
  });
}

void NetworkPredictor::predict(const learn::FeatureTile& units, learn::Outcomes out, core::RunContext& context) const {
  run(units, parts_.scales, out, context);
}

// A network predicts on its own scales, and 0 + 1 x is x.
void NetworkPredictor::predict_scaled(const learn::FeatureTile& units, const learn::Scales& scales, learn::Outcomes out,
                                      core::RunContext& context) const {
  if (scales == parts_.scales) return run(units, {}, out, context);
  learn::Predictor::predict_scaled(units, scales, out, context);
}

bool NetworkPredictor::join(const learn::Predictor& other) {
  const auto* network = dynamic_cast<const NetworkPredictor*>(&other);
  if (network == nullptr) return false;
  const NetworkParts& theirs = network->parts_;
  if (!(theirs.preprocessing == parts_.preprocessing && theirs.network == parts_.network &&
        theirs.scales == parts_.scales && theirs.revenue_form == parts_.revenue_form &&
        theirs.efficiency_cost_scale == parts_.efficiency_cost_scale))
    return false;
  for (const std::vector<float>& member : theirs.members) {
    parts_.members.push_back(member);
    add_member(member);
  }
  return true;
}

std::optional<learn::Origin> NetworkPredictor::origin() const { return outcomes_of(parts_); }

void NetworkPredictor::require_fits(const learn::Schema& schema, const std::string& where) const {
  require_consistent(parts_, schema, where);
}

}  // namespace dfcl::nn
