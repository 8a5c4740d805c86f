// SPDX-License-Identifier: Apache-2.0
#include "dfcl/forest/forest_learner.h"

#include <fmt/format.h>

#include <limits>

#include "dfcl/core/error.h"
#include "dfcl/forest/forest_predictor.h"

namespace dfcl::forest {
namespace {

template <class T>
std::vector<T> chosen(std::span<const T> values, std::span<const std::uint32_t> rows) {
  std::vector<T> result;
  if (values.empty()) return result;
  result.reserve(rows.size());
  for (const std::uint32_t row : rows) result.push_back(values[row]);
  return result;
}

}  // namespace

ForestOptions forest_options(const data::Study& study, std::uint64_t seed) {
  const data::Study::Forest& given = study.forest;
  return {.trees = static_cast<std::size_t>(given.trees),
          .depth = static_cast<std::size_t>(given.depth),
          .min_leaf = static_cast<std::size_t>(given.leaf),
          .min_leaf_per_arm = static_cast<std::size_t>(given.min_leaf_per_arm),
          .mtry = static_cast<std::size_t>(given.mtry.value_or(0)),
          .honest = given.honest,
          .subsample = given.subsample,
          .seed = seed};
}

void check_settings(const data::Study& study, std::size_t num_training_units, std::size_t num_arms) {
  validate(forest_options(study, 0), num_training_units, num_arms);
}

std::unique_ptr<learn::Learner> make_forest_learner(const learn::LearnerRequest& request, core::RunContext&) {
  const ForestOptions options = forest_options(request.study, request.seed);
  validate(options, std::numeric_limits<std::uint32_t>::max(), request.set.num_arms());  // units are counted by a fit
  return std::make_unique<ForestLearner>(options, request.study.method.as_published);
}

bool ForestLearner::has_enough(std::size_t num_training_units) const {
  return enough_units(options_, num_training_units);
}

std::vector<std::pair<std::string, std::string>> ForestLearner::shown() const {
  const auto number = [](auto value) { return fmt::format("{}", value); };
  return {{"trees", number(options_.trees)},
          {"leaf", number(options_.min_leaf)},
          {"min_leaf_per_arm", number(options_.min_leaf_per_arm)},
          {"depth", number(options_.depth)},
          {"mtry", options_.mtry == 0 ? "all" : number(options_.mtry)},
          {"honest", options_.honest ? "true" : "false"},
          {"subsample", number(options_.subsample)}};
}

learn::Fit ForestLearner::fit(const learn::TrainingSet& set, const learn::Objective&, const learn::Stage&,
                              core::RunContext& context) const {
  if (set.base == nullptr) throw core::Error({.what = "a forest without its base"});
  const std::span<const std::uint32_t> rows = set.rows;
  const auto link_of = [&](loss::OutcomeKind kind) {
    return kind == loss::OutcomeKind::real || as_published_ ? Link::difference : Link::ratio;
  };
  const std::vector<std::uint8_t> arm = chosen(set.arm, rows);
  const std::vector<float> revenue = chosen(set.revenue, rows);
  std::vector<float> cost = chosen(set.cost, rows);
  std::vector<float> base_cost = set.base->cost;
  if (!set.learns_cost) {  // what does not vary has no say in the splits
    std::fill(cost.begin(), cost.end(), 0.0f);
    std::fill(base_cost.begin(), base_cost.end(), 0.0f);
  }
  const std::vector<float> weight =
      set.has_propensities || !set.sample.empty() ? chosen(set.weight, rows) : std::vector<float>();
  const std::vector<std::uint32_t> cluster = chosen(set.cluster, rows);
  Forest forest = grow_forest({.columns = set.features->columns,
                               .features = set.features->values.view(),
                               .rows = rows,
                               .seen = {.arm = arm,
                                        .revenue = revenue,
                                        .cost = cost,
                                        .base_revenue = set.base->revenue,
                                        .base_cost = base_cost,
                                        .inverse_propensity = weight,
                                        .num_arms = set.num_arms(),
                                        .control = set.arms->control,
                                        .revenue_link = link_of(set.facts.revenue.kind),
                                        .cost_link = set.learns_cost ? link_of(set.facts.cost.kind) : Link::difference,
                                        .cost_is_known = !set.learns_cost},
                               .key = cluster},
                              options_, context);
  std::vector<std::uint64_t> keys(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) keys[i] = cluster.empty() ? i : cluster[i];
  learn::Predicted unseen{core::Matrix<float>(rows.size(), set.num_arms()),
                          core::Matrix<float>(rows.size(), set.num_arms())};
  auto predictor = std::make_unique<ForestPredictor>(std::move(forest), set.facts, set.base->predictors);
  predictor->runner().predict({.features = set.features->values.view(),
                               .rows = rows,
                               .base_revenue = set.base->revenue,
                               .base_cost = base_cost,
                               .seen_key = keys},
                              unseen.revenue.view(), unseen.cost.view(), context);
  return {std::move(predictor), {}, std::move(unseen)};
}

}  // namespace dfcl::forest
