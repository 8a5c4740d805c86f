// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/network_predictor.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/core/error.h"
#include "dfcl/core/parallel.h"

namespace dfcl::nn {
namespace {

constexpr std::size_t kChunkRows = 16 * kTileRows;
constexpr std::size_t kMostLayers = 100;

class Checker {
 public:
  Checker(const NetworkParts& parts, const learn::Schema& schema, const std::string& where)
      : parts_(parts), schema_(schema), where_(where) {}

  void check() const {
    const std::size_t num_arms = schema_.arms.size();
    const bool is_index = parts_.revenue_form != loss::RevenueForm::outcome;
    require(parts_.network.revenue.num_arms == (is_index ? num_arms - 1 : num_arms), "revenue");
    require(parts_.network.cost.num_arms == num_arms, "cost");
    check_features();
    check_network();
    for (const learn::OutcomeScale* outcome : {&parts_.scales.revenue, &parts_.scales.cost})
      require(std::isfinite(outcome->center) && std::isfinite(outcome->scale) && outcome->scale > 0.0, "scales");
    require(std::isfinite(parts_.efficiency_cost_scale) && parts_.efficiency_cost_scale > 0.0, "scale of efficiencies");
  }

 private:
  void require(bool good, const char* what) const {
    if (good) return;
    throw core::Error({.kind = core::ErrorKind::file,
                       .what = std::string("a model whose parts do not fit each other: ") + what,
                       .where = where_});
  }

  void check_features() const {
    const Preprocessing& preprocessing = parts_.preprocessing;
    const std::vector<data::FeatureColumn>& features = schema_.features;
    require(!features.empty() && preprocessing.num_features() == features.size(), "features");
    for (const NumberInput& number : preprocessing.numbers()) require(!features[number.feature].categorical, "numbers");
    for (const std::uint32_t feature : preprocessing.indicators())
      require(!features[feature].categorical, "indicators");
    for (const CategoryInput& category : preprocessing.categories()) {
      const data::FeatureColumn& column = features[category.feature];
      require(column.categorical && category.position.size() == column.levels.size() + 1, "categories");
    }
  }

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
    require(!parts_.members.empty(), "no members");
    for (const auto& member : parts_.members) {
      require(count == static_cast<double>(member.size()), "number of parameters");
      require(std::all_of(member.begin(), member.end(), [](float value) { return std::isfinite(value); }), "weights");
    }
  }

  std::size_t outputs_of(const OutcomeOptions& head) const {
    try {
      return OutcomeHead<float>(head).num_outputs();
    } catch (const core::Error&) {
      require(false, "heads that contradict themselves");
    }
    return 0;
  }

  const NetworkParts& parts_;
  const learn::Schema& schema_;
  const std::string& where_;
};

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
  Checker(parts, schema, where).check();
}

// What a thread needs for a tile of rows.
struct NetworkPredictor::Tile {
  Tile(const OutcomeNetwork<float>& member, std::size_t num_arms)
      : workspace(member), index(num_arms), revenue(kTileRows * num_arms), cost(kTileRows * num_arms) {}

  TileWorkspace<float> workspace;
  std::vector<float> index;     // revenue of one unit made of efficiencies
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
  const std::size_t num_arms = out.cost.cols;
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
    for (std::size_t row = 0; row < rows; ++row) {
      const auto scores = tile.workspace.revenue().row(row);
      const auto costs = tile.workspace.cost().row(row);
      std::span<const float> revenues = scores;
      if (is_index()) {
        for (float& score : scores) {
          score = static_cast<float>(
              loss::efficiency_of(parts_.revenue_form, static_cast<double>(score), parts_.efficiency_cost_scale));
        }
        loss::set_revenue_from_efficiencies<float>(scores, costs, tile.index);
        revenues = tile.index;
      }
      for (std::size_t arm = 0; arm < num_arms; ++arm) {
        tile.revenue[row * num_arms + arm] += static_cast<double>(revenues[arm]);
        tile.cost[row * num_arms + arm] += static_cast<double>(costs[arm]);
      }
    }
  }
  const double num_members = static_cast<double>(networks_.size());
  for (std::size_t i = 0; i < rows * num_arms; ++i) {
    out.revenue.data[i] =
        static_cast<float>(scales.revenue.center + scales.revenue.scale * (tile.revenue[i] / num_members));
    out.cost.data[i] = static_cast<float>(scales.cost.center + scales.cost.scale * (tile.cost[i] / num_members));
  }
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

std::optional<learn::Origin> NetworkPredictor::origin() const {
  return learn::Origin{{parts_.network.revenue, parts_.network.cost},
                       parts_.scales,
                       parts_.revenue_form,
                       parts_.efficiency_cost_scale,
                       parts_.members.size()};
}

void NetworkPredictor::require_fits(const learn::Schema& schema, const std::string& where) const {
  require_consistent(parts_, schema, where);
}

}  // namespace dfcl::nn
