// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/table/table_predictor.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/error.h"

namespace dfcl::nn {
namespace {

constexpr std::size_t kBlockUnits = 65'536;  // whose sums over networks are kept at a time

class Checker {
 public:
  Checker(const TableParts& parts, const learn::Schema& schema, const std::string& where)
      : parts_(parts), schema_(schema), where_(where) {}

  void check() const {
    const std::size_t num_arms = schema_.arms.size();
    const bool is_index = parts_.revenue_form != loss::RevenueForm::outcome;
    require(parts_.options.revenue.num_arms == (is_index ? num_arms - 1 : num_arms), "revenue");
    require(parts_.options.cost.num_arms == num_arms, "cost");
    check_features();
    check_networks();
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
    const Preprocessing& preprocessing = parts_.encoding.preprocessing();
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

  // Parameters are counted before anything of their size is made.
  void check_networks() const {
    std::size_t size = 0;
    try {
      size = num_table_parameters(parts_.encoding, parts_.options);
    } catch (const core::Error&) {
      require(false, "heads that contradict themselves");
    }
    require(size > 0, "size of the network");
    require(!parts_.networks.empty(), "no networks");
    for (const auto& network : parts_.networks) {
      require(network.size() == size, "number of parameters");
      require(std::ranges::all_of(network, [](float value) { return std::isfinite(value); }), "weights");
    }
  }

  const TableParts& parts_;
  const learn::Schema& schema_;
  const std::string& where_;
};

}  // namespace

void require_consistent(const TableParts& parts, const learn::Schema& schema, const std::string& where) {
  Checker(parts, schema, where).check();
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

// Adds the predictions of all members: of efficiencies, the index that each member's scores make.
void TablePredictor::add_tile(TableTile<float>& tile, std::size_t count, double* revenue, double* cost) const {
  const std::size_t num_arms = parts_.options.cost.num_arms;
  std::vector<float> index(num_arms);
  for (std::size_t row = 0; row < count * parts_.options.members; ++row) {
    const std::span<float> scores = tile.revenue().row(row);
    const std::span<const float> costs = tile.cost().row(row);
    std::span<const float> revenues = scores;
    if (is_index()) {
      for (float& score : scores) {
        score = static_cast<float>(
            loss::efficiency_of(parts_.revenue_form, static_cast<double>(score), parts_.efficiency_cost_scale));
      }
      loss::set_revenue_from_efficiencies<float>(scores, costs, index);
      revenues = index;
    }
    const std::size_t unit = row % count;
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      revenue[unit * num_arms + arm] += static_cast<double>(revenues[arm]);
      cost[unit * num_arms + arm] += static_cast<double>(costs[arm]);
    }
  }
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
                     add_tile(tile, tile_units, revenue.data() + first * num_arms, cost.data() + first * num_arms);
                   });
    }
    const learn::Outcomes block = out.slice(begin, size);
    for (std::size_t i = 0; i < revenue.size(); ++i) {
      block.revenue.data[i] = static_cast<float>(scales.revenue.center + scales.revenue.scale * (revenue[i] / count));
      block.cost.data[i] = static_cast<float>(scales.cost.center + scales.cost.scale * (cost[i] / count));
    }
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

std::optional<learn::Origin> TablePredictor::origin() const {
  return learn::Origin{{parts_.options.revenue, parts_.options.cost},
                       parts_.scales,
                       parts_.revenue_form,
                       parts_.efficiency_cost_scale,
                       parts_.networks.size()};
}

void TablePredictor::require_fits(const learn::Schema& schema, const std::string& where) const {
  require_consistent(parts_, schema, where);
}

}  // namespace dfcl::nn
