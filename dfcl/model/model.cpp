// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/core/error.h"

namespace dfcl::model {
namespace {

constexpr std::size_t kMostLayers = 100;

class Checker {
 public:
  Checker(const Model& model, const std::string& where) : model_(model), where_(where) {}

  void check() const {
    check_arms();
    check_features();
    check_network();
    check_numbers();
    if (model_.forest) check_forest(*model_.forest);
  }

 private:
  void require(bool good, const char* what) const {
    if (good) return;
    throw core::Error({.kind = core::ErrorKind::file,
                       .what = std::string("a model whose parts do not fit each other: ") + what,
                       .where = where_});
  }

  void check_arms() const {
    const std::size_t num_arms = model_.arms.size();
    require(num_arms >= 2 && num_arms <= data::kMostArms && model_.arms.control < num_arms, "arms");
    require(model_.network.revenue.num_arms == (model_.is_index() ? num_arms - 1 : num_arms), "revenue");
    require(model_.network.cost.num_arms == num_arms, "cost");
  }

  void check_features() const {
    const Preprocessing& preprocessing = model_.preprocessing;
    require(!model_.features.empty() && preprocessing.num_features() == model_.features.size(), "features");
    for (const NumberInput& number : preprocessing.numbers())
      require(!model_.features[number.feature].categorical, "numbers");
    for (const std::uint32_t feature : preprocessing.indicators())
      require(!model_.features[feature].categorical, "indicators");
    for (const CategoryInput& category : preprocessing.categories()) {
      const data::FeatureColumn& column = model_.features[category.feature];
      require(column.categorical && category.position.size() == column.levels.size() + 1, "categories");
    }
  }

  // Parameters and neurons are counted before anything of their size is made.
  void check_network() const {
    const nn::OutcomeNetworkOptions& network = model_.network;
    require(network.inputs == model_.preprocessing.num_inputs(), "inputs of the network");
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
    require(!model_.members.empty(), "no members");
    for (const auto& member : model_.members) {
      require(count == static_cast<double>(member.size()), "number of parameters");
      require(std::all_of(member.begin(), member.end(), [](float value) { return std::isfinite(value); }), "weights");
    }
  }

  std::size_t outputs_of(const nn::OutcomeOptions& head) const {
    try {
      return nn::OutcomeHead<float>(head).num_outputs();
    } catch (const core::Error&) {
      require(false, "heads that contradict themselves");
    }
    return 0;
  }

  void check_forest(const forest::Forest& forest) const {
    forest::require_consistent(forest, where_);
    require(forest.num_arms == model_.arms.size() && forest.control == model_.arms.control && !model_.is_index(),
            "arms of the forest");
    require(forest.bins.size() == model_.features.size(), "features of the forest");
    for (std::size_t feature = 0; feature < forest.bins.size(); ++feature) {
      const data::FeatureColumn& column = model_.features[feature];
      require(forest.bins[feature].categorical == column.categorical &&
                  (!column.categorical || forest.bins[feature].level_bin.size() == column.levels.size()),
              "features of the forest");
    }
  }

  void check_numbers() const {
    for (const OutcomeScale* outcome : {&model_.revenue, &model_.cost}) {
      require(std::isfinite(outcome->center) && std::isfinite(outcome->scale) && outcome->scale > 0.0, "scales");
    }
    require(std::isfinite(model_.efficiency_cost_scale) && model_.efficiency_cost_scale > 0.0, "scale of efficiencies");
    for (const BudgetMultiplier& price : model_.multipliers) {
      require(std::isfinite(price.budget_per_unit) && std::isfinite(price.multiplier) &&
                  std::isfinite(price.scaled_multiplier),
              "multipliers");
    }
    for (const double code : model_.missing) require(std::isfinite(code), "missing codes");
    const auto& keys = model_.trained.keys;
    require(keys.size() <= kMostKeys && std::is_sorted(keys.begin(), keys.end()), "keys of training units");
  }

  const Model& model_;
  const std::string& where_;
};

}  // namespace

std::size_t num_neurons(const nn::OutcomeNetworkOptions& network) {
  const auto sum = [](const std::vector<std::size_t>& widths) {
    return std::accumulate(widths.begin(), widths.end(), std::size_t{0});
  };
  const std::size_t num_heads =
      nn::OutcomeHead<float>(network.revenue).num_outputs() + nn::OutcomeHead<float>(network.cost).num_outputs();
  return network.inputs + sum(network.shared) + (network.heads ? num_heads * sum(*network.heads) : 0);
}

std::vector<std::pair<std::string, double>> feature_importance(const Model& model) {
  std::vector<std::pair<std::string, double>> list;
  if (!model.forest) return list;
  for (std::size_t feature = 0; feature < model.features.size(); ++feature)
    list.emplace_back(model.features[feature].name, static_cast<double>(model.forest->importance[feature]));
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return list;
}

void require_consistent(const Model& model, const std::string& where) { Checker(model, where).check(); }

}  // namespace dfcl::model
