// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/table/table_learner.h"

#include <fmt/format.h>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/nn/cuda/card_engine.h"
#include "dfcl/nn/network_learner.h"
#include "dfcl/nn/table/table_engine.h"
#include "dfcl/nn/table/table_predictor.h"

namespace dfcl::nn {
namespace {

const TableParts& table_parts(const learn::Predictor& start) {
  const auto* network = dynamic_cast<const TablePredictor*>(&start);
  if (network == nullptr) {
    throw core::field_error("start_from", "the starting model is no network for tables", start.kind(),
                            "a network for tables",
                            core::field_name("network.kind", "plain") + " goes on from a plain network");
  }
  return network->parts();
}

void require_same(const TableOptions& wanted, const TableOptions& found) {
  if (wanted.members != found.members)
    throw core::field_error("start_from", "the starting model has another number of members",
                            fmt::format("{}", found.members), fmt::format("{}", wanted.members),
                            "[network] members may be left out: the model's is taken then");
  require_same_outcomes({wanted.revenue, wanted.cost}, {found.revenue, found.cost});
}

}  // namespace

bool uses_table_network(const data::Study& study) {
  const data::Study::Network& network = study.network;
  if (network.kind) return *network.kind == "table";
  return !study.method.as_published && network.hidden.empty() && network.shared.empty() && network.heads.empty() &&
         !network.scaling;
}

std::unique_ptr<learn::Learner> make_table_learner(const learn::LearnerRequest& request, core::RunContext& context) {
  const learn::TrainingSet& set = request.set;
  const data::Study::Network& given = request.study.network;
  const TableParts* start = request.start == nullptr ? nullptr : &table_parts(*request.start);
  TableEncoding encoding =
      start != nullptr
          ? TableEncoding(recoded(start->encoding.preprocessing(), *request.start_columns, set.features->columns),
                          start->encoding.edges())
          : fit_table_encoding(set.features->columns, set.features->values.view(), set.is_training,
                               static_cast<std::size_t>(given.bins), context);
  TableOptions options{.members = static_cast<std::size_t>(given.members.value_or(kUsualMembers)),
                       .revenue = set.facts.revenue,
                       .cost = set.facts.cost};
  if (request.revenue_form != loss::RevenueForm::outcome) options.revenue = {.num_arms = set.num_arms() - 1};
  for (OutcomeOptions* outcome : {&options.revenue, &options.cost}) {
    outcome->arms_apart = outcome->kind == loss::OutcomeKind::non_negative && outcome->arm_shape == ArmShape::plain;
  }
  if (start != nullptr) {
    if (!given.members) options.members = start->options.members;
    options.width = start->options.width;
    options.revenue.arms_apart = start->options.revenue.arms_apart;
    options.cost.arms_apart = start->options.cost.arms_apart;
    require_same(options, start->options);
  }
  if (num_table_parameters(encoding, options) == 0) {
    throw core::usage_error("[network]", "too large", fmt::format("{} rows of weights", encoding.num_weights()),
                            fmt::format("at most {}", kMostFirstWeights / options.width),
                            "each level of a category is a row; [columns] min_level_units pools rare ones");
  }
  const TableTraining training{given.dropout, {static_cast<std::size_t>(given.patience)}};
  return std::make_unique<TableLearner>(std::move(encoding), options, training, request);
}

TableLearner::TableLearner(TableEncoding encoding, const TableOptions& options, const TableTraining& training,
                           const learn::LearnerRequest& request)
    : encoding_(std::move(encoding)),
      options_(options),
      training_(training),
      steps_(request.steps),
      seed_(request.seed) {}

learn::Fit TableLearner::fit(const learn::TrainingSet& set, const learn::Objective& objective,
                             const learn::Stage& stage, core::RunContext& context) const {
  std::unique_ptr<Engine> engine =
      cuda::on_device(std::make_unique<TableEngine>(set, objective, encoding_, options_, training_.dropout), set,
                      objective, encoding_, options_, training_.dropout, context);
  Trainer trainer(set, objective, stage, std::move(engine), steps_, training_.stopping, seed_, context);
  if (stage.start != nullptr) {
    const auto& networks = table_parts(*stage.start).networks;
    trainer.state().parameters = networks[stage.member % networks.size()];
  }
  TableParts parts{
      encoding_, options_, {trainer.run()}, set.scales, objective.revenue_form, objective.efficiency_cost_scale};
  return {std::make_unique<TablePredictor>(std::move(parts)), std::move(trainer.state().record), std::nullopt};
}

std::vector<std::pair<std::string, std::string>> TableLearner::shown() const {
  return {{"network", "table"},
          {"members", fmt::format("{}", options_.members)},
          {"dropout", fmt::format("{}", training_.dropout)},
          {"patience", fmt::format("{}", training_.stopping.patience)}};
}

}  // namespace dfcl::nn
