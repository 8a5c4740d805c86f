// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/network_learner.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/data/study_keys.h"
#include "dfcl/learn/facts_json.h"
#include "dfcl/nn/cuda/card_engine.h"
#include "dfcl/nn/network_engine.h"
#include "dfcl/nn/network_predictor.h"
#include "dfcl/nn/table/table_learner.h"
#include "dfcl/nn/table/table_predictor.h"
#include "dfcl/nn/trainer.h"

namespace dfcl::nn {
namespace {

static_assert(data::kMostLayerWidth == kMostWidth);

Scaling scaling_of(const data::Study& study) {
  const bool unit = study.network.scaling ? *study.network.scaling == "unit" : study.method.as_published;
  return unit ? Scaling::unit_interval : Scaling::standard;
}

std::vector<std::size_t> widths(const std::vector<std::int64_t>& layers) { return {layers.begin(), layers.end()}; }

bool names_layers(const data::Study::Network& network) {
  return !(network.hidden.empty() && network.shared.empty() && network.heads.empty());
}

void set_layers(const data::Study::Network& given, OutcomeNetworkOptions& network) {
  if (given.shared.empty() && given.heads.empty()) {
    network.shared = given.hidden.empty() ? std::vector<std::size_t>{64, 32, 32} : widths(given.hidden);
  } else {
    network.shared = widths(given.shared);
    network.heads = widths(given.heads);
  }
}

std::string layers_text(const OutcomeNetworkOptions& network) {
  std::string text = network.heads ? "shared " : "hidden ";
  text += fmt::format("[{}]", fmt::join(network.shared, ", "));
  if (network.heads) text += fmt::format(", heads [{}]", fmt::join(*network.heads, ", "));
  return text;
}

std::string outcome_text(const OutcomeOptions& outcome) {
  return fmt::format(
      "{}{}{}{}, {} outputs", learn::kind_word(outcome.kind),
      outcome.arm_shape == ArmShape::plain ? "" : fmt::format(", {}", learn::shape_word(outcome.arm_shape)),
      outcome.control_is_free ? ", free control" : "", outcome.non_negative ? ", never negative" : "",
      outcome.num_arms);
}

void require_same_network(const OutcomeNetworkOptions& wanted, const OutcomeNetworkOptions& found) {
  if (wanted.shared != found.shared || wanted.heads != found.heads) {
    throw core::field_error("start_from", "the starting model has another network", layers_text(found),
                            layers_text(wanted), "[network] may be left out: the model's is taken then");
  }
  require_same_outcomes({wanted.revenue, wanted.cost}, {found.revenue, found.cost});
}

const NetworkParts& network_parts(const learn::Predictor& start) {
  const auto* network = dynamic_cast<const NetworkPredictor*>(&start);
  if (network == nullptr)
    throw core::field_error("start_from", "the starting model is no plain network", start.kind(), "a plain network");
  return network->parts();
}

// As the study says; where it leaves that open, as the starting model is.
bool wants_table(const learn::LearnerRequest& request) {
  const data::Study::Network& network = request.study.network;
  const bool table = uses_table_network(request.study);
  if (network.kind && table && (names_layers(network) || network.scaling)) {
    throw core::usage_error("[network]", "hidden, shared, heads and scaling describe a plain network",
                            "kind = \"table\"", "kind = \"plain\", or none of them");
  }
  if (table && request.study.method.as_published) {
    throw core::usage_error("[network] kind", "what is trained as published is a plain network", "table", "plain");
  }
  if (!network.kind && table && request.start != nullptr)
    return dynamic_cast<const TablePredictor*>(request.start) != nullptr;
  return table;
}

}  // namespace

void require_same_outcomes(const learn::Facts& wanted, const learn::Facts& found) {
  for (const auto& [name, theirs, ours] :
       {std::tuple{"revenue", found.revenue, wanted.revenue}, std::tuple{"cost", found.cost, wanted.cost}}) {
    if (theirs == ours) continue;
    throw core::field_error("start_from", fmt::format("the starting model predicts {} in another form", name),
                            outcome_text(theirs), outcome_text(ours),
                            fmt::format("[cost], {}, {}, {} and the kind of the method must be the same",
                                        core::field_name("method.as_published"), core::field_name("method.monotone"),
                                        core::field_name("method.concave")));
  }
}

Preprocessing recoded(const Preprocessing& preprocessing, const std::vector<data::FeatureColumn>& known_columns,
                      const std::vector<data::FeatureColumn>& columns) {
  std::vector<CategoryInput> categories = preprocessing.categories();
  for (CategoryInput& category : categories) {
    const std::vector<std::string>& known = known_columns[category.feature].levels;
    const std::vector<std::string>& levels = columns[category.feature].levels;
    std::vector<std::int32_t> position;
    for (const std::string& level : levels) {
      const auto found = std::find(known.begin(), known.end(), level);
      // A level that the model pooled, or never met, is one of its pool.
      const std::size_t code = found == known.end() ? 0 : static_cast<std::size_t>(found - known.begin());
      position.push_back(category.position[code]);
    }
    position.push_back(category.position.back());  // missing
    category.position = std::move(position);
  }
  return Preprocessing(preprocessing.num_features(), preprocessing.numbers(), preprocessing.indicators(),
                       std::move(categories));
}

std::unique_ptr<learn::Learner> make_network_learner(const learn::LearnerRequest& request, core::RunContext& context) {
  if (wants_table(request)) return make_table_learner(request, context);
  const learn::TrainingSet& set = request.set;
  const NetworkParts* start = request.start == nullptr ? nullptr : &network_parts(*request.start);
  const Scaling scaling = scaling_of(request.study);
  Preprocessing preprocessing =
      start != nullptr
          ? recoded(start->preprocessing, *request.start_columns, set.features->columns)
          : fit_preprocessing(set.features->columns, set.features->values.view(), set.is_training, scaling, context);
  OutcomeNetworkOptions network;
  network.inputs = preprocessing.num_inputs();
  set_layers(request.study.network, network);
  network.revenue = set.facts.revenue;
  network.cost = set.facts.cost;
  if (request.revenue_form != loss::RevenueForm::outcome) network.revenue = {.num_arms = set.num_arms() - 1};
  if (const std::size_t size = num_neurons(network); size > kMostNeurons) {
    throw core::usage_error("[network]", "too wide", fmt::format("{} inputs and hidden units", size),
                            fmt::format("at most {}", kMostNeurons),
                            "each level of a category is an input; [columns] min_level_units pools rare ones");
  }
  if (start != nullptr) {
    if (!names_layers(request.study.network)) {
      network.shared = start->network.shared;
      network.heads = start->network.heads;
    }
    require_same_network(network, start->network);
  }
  return std::make_unique<NetworkLearner>(std::move(preprocessing), std::move(network), request);
}

NetworkLearner::NetworkLearner(Preprocessing preprocessing, OutcomeNetworkOptions network,
                               const learn::LearnerRequest& request)
    : preprocessing_(std::move(preprocessing)),
      network_(std::move(network)),
      steps_(request.steps),
      seed_(request.seed) {}

learn::Fit NetworkLearner::fit(const learn::TrainingSet& set, const learn::Objective& objective,
                               const learn::Stage& stage, core::RunContext& context) const {
  std::unique_ptr<Engine> engine =
      cuda::on_device(std::make_unique<NetworkEngine>(set, objective, preprocessing_, network_), set, objective,
                      preprocessing_, network_, context);
  Trainer trainer(set, objective, stage, std::move(engine), steps_, std::nullopt, seed_, context);
  if (stage.start != nullptr) {
    const auto& members = network_parts(*stage.start).members;
    trainer.state().parameters = members[stage.member % members.size()];
  }
  std::vector<float> parameters = trainer.run();
  NetworkParts parts{preprocessing_,          network_,
                     {std::move(parameters)}, set.scales,
                     objective.revenue_form,  objective.efficiency_cost_scale};
  return {std::make_unique<NetworkPredictor>(std::move(parts)), std::move(trainer.state().record), std::nullopt};
}

}  // namespace dfcl::nn
