// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/forest_method.h"

#include <fmt/format.h>

#include "dfcl/core/error.h"
#include "dfcl/forest/predict.h"
#include "dfcl/model/arm_rules_of.h"

namespace dfcl::train {
namespace {

// In the order of the training units, in the study's currency.
struct Base {
  std::vector<float> revenue;
  std::vector<float> cost;
};

Base fit_base(const data::Trial& trial, const Preparation& prepared, const Settings& settings,
              const FinishNetwork& finish, ForestFit& fit, core::RunContext& context) {
  const std::span<const std::uint32_t> rows = prepared.train_rows;
  Base base{std::vector<float>(rows.size()), std::vector<float>(rows.size())};
  const auto unscaled = [](float value, const model::OutcomeScale& scale) {
    return static_cast<float>(scale.center + scale.scale * static_cast<double>(value));
  };
  const auto keep = [&](std::size_t place, std::span<const float> revenue, std::span<const float> cost) {
    base.revenue[place] = unscaled(forest::base_of(revenue), prepared.revenue_scale);
    base.cost[place] = unscaled(forest::base_of(cost), prepared.cost_scale);
  };
  for (HalfNetwork& network : cross_fit({.trial = trial,
                              .prepared = prepared,
                              .settings = settings,
                              .rows = rows,
                              .first_member = 0,
                              .name = "base",
                              .purpose = "the base of a forest",
                              .hint = "--method tsm needs no base"},
                                        finish, keep, context)) {
    fit.members.push_back(std::move(network.parameters));
    fit.record.insert(fit.record.end(), network.record.begin(), network.record.end());
  }
  return base;
}

template <class T>
std::vector<T> chosen(const core::Column<T>& values, std::span<const std::uint32_t> rows) {
  std::vector<T> result;
  if (values.empty()) return result;
  result.reserve(rows.size());
  for (const std::uint32_t row : rows) result.push_back(values[row]);
  return result;
}

forest::Link link_of(loss::OutcomeKind kind, bool as_published) {
  return kind == loss::OutcomeKind::real || as_published ? forest::Link::difference : forest::Link::ratio;
}

}  // namespace

forest::ForestOptions forest_options_of(const data::Study& study, std::size_t num_training_units, std::size_t num_arms,
                                        std::uint64_t seed) {
  const data::Study::Forest& given = study.forest;
  const forest::ForestOptions options{.trees = static_cast<std::size_t>(given.trees),
                                      .depth = static_cast<std::size_t>(given.depth),
                                      .min_leaf = static_cast<std::size_t>(given.leaf),
                                      .min_leaf_per_arm = static_cast<std::size_t>(given.min_leaf_per_arm),
                                      .mtry = static_cast<std::size_t>(given.mtry.value_or(0)),
                                      .subsample = given.subsample,
                                      .seed = seed};
  forest::validate(options, num_training_units, num_arms);
  return options;
}

std::vector<std::pair<std::string, std::string>> shown(const forest::ForestOptions& options) {
  const auto number = [](auto value) { return fmt::format("{}", value); };
  return {{"trees", number(options.trees)},
          {"leaf", number(options.min_leaf)},
          {"min_leaf_per_arm", number(options.min_leaf_per_arm)},
          {"depth", number(options.depth)},
          {"mtry", options.mtry == 0 ? "all" : number(options.mtry)},
          {"subsample", number(options.subsample)}};
}

ForestFit fit_forest(const data::Trial& trial, const data::Study& study, const Preparation& prepared,
                     const Settings& settings, const FinishNetwork& finish, core::RunContext& context) {
  const std::span<const std::uint32_t> rows = prepared.train_rows;
  const std::size_t num_arms = trial.arms.size();
  const forest::ForestOptions options = forest_options_of(study, rows.size(), num_arms, settings.seed);
  ForestFit fit;
  const Base base = fit_base(trial, prepared, settings, finish, fit, context);
  const std::vector<std::uint8_t> arm = chosen(trial.arm, rows);
  const std::vector<float> revenue = chosen(trial.revenue, rows);
  const std::vector<float> cost = chosen(trial.cost, rows);
  const std::vector<float> weight = trial.propensity.empty() ? std::vector<float>() : chosen(prepared.weight, rows);
  const std::vector<std::uint32_t> cluster = chosen(trial.cluster, rows);
  fit.forest = forest::grow_forest({.columns = trial.features.columns,
                                    .features = trial.features.values.view(),
                                    .rows = rows,
                                    .seen = {.arm = arm,
                                             .revenue = revenue,
                                             .cost = cost,
                                             .base_revenue = base.revenue,
                                             .base_cost = base.cost,
                                             .inverse_propensity = weight,
                                             .num_arms = num_arms,
                                             .control = trial.arms.control,
                                             .revenue_link = link_of(prepared.revenue_kind, settings.as_published),
                                             .cost_link = link_of(prepared.cost_kind, settings.as_published)},
                                    .key = cluster},
                                   options, context);
  std::vector<std::uint64_t> keys(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) keys[i] = cluster.empty() ? i : cluster[i];
  fit.revenue = core::Matrix<float>(rows.size(), num_arms);
  fit.cost = core::Matrix<float>(rows.size(), num_arms);
  forest::ForestPredictor(fit.forest, model::arm_rules_of(prepared.network.revenue),
                          model::arm_rules_of(prepared.network.cost))
      .predict({.features = trial.features.values.view(),
                .rows = rows,
                .base_revenue = base.revenue,
                .base_cost = base.cost,
                .seen_key = keys},
               fit.revenue.view(), fit.cost.view(), context);
  return fit;
}

}  // namespace dfcl::train
