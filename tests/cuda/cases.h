// SPDX-License-Identifier: Apache-2.0
//
// Random rows, and networks and losses of every kind that the engine for graphics cards takes.
#pragma once

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "dfcl/core/random.h"
#include "dfcl/nn/cuda/training_card.h"

namespace dfcl::nn::cuda {

struct Case {
  std::string name;
  CardNetworkOptions options;
};

struct SampleRows {
  SampleRows(std::size_t num_rows, std::size_t inputs, std::size_t num_arms, std::uint64_t seed)
      : features(num_rows, inputs), nuisance_revenue(num_rows, num_arms), nuisance_cost(num_rows, num_arms) {
    for (std::size_t row = 0; row < num_rows; ++row) {
      core::RandomStream random(seed, core::stream_purpose("card rows"), row);
      for (float& value : features.row(row)) value = static_cast<float>(random.normal());
      arm.push_back(static_cast<std::uint8_t>(random.below(static_cast<std::uint32_t>(num_arms))));
      revenue.push_back(random.bernoulli(0.3) ? 1.0f : 0.0f);
      cost.push_back(random.bernoulli(0.4) ? 1.0f : 0.0f);
      sample.push_back(static_cast<float>(random.uniform(0.5, 1.5)));
      weight.push_back(sample.back() * static_cast<float>(random.uniform(1.0, 3.0)));
      for (float& value : nuisance_revenue.row(row)) value = static_cast<float>(random.uniform());
      for (float& value : nuisance_cost.row(row)) value = static_cast<float>(random.uniform());
    }
  }
  TrainingRows rows() const {
    return {.arm = arm,
            .revenue = revenue,
            .cost = cost,
            .weight = weight,
            .nuisance_revenue = nuisance_revenue.view(),
            .nuisance_cost = nuisance_cost.view(),
            .sample = sample};
  }

  std::vector<std::uint32_t> all() const {
    std::vector<std::uint32_t> order(arm.size());
    std::iota(order.begin(), order.end(), 0u);
    return order;
  }

  core::Matrix<float> features;
  core::Matrix<float> nuisance_revenue;
  core::Matrix<float> nuisance_cost;
  std::vector<std::uint8_t> arm;
  std::vector<float> revenue;
  std::vector<float> cost;
  std::vector<float> weight;
  std::vector<float> sample;
};

// With these rows to train on and, where they validate too, to predict.
inline std::unique_ptr<TrainingCard> card_with(const CardNetworkOptions& options, const SampleRows& data,
                                               bool validates = false) {
  core::RunContext context(0);
  std::unique_ptr<TrainingCard> card = make_card(options, inputs_from<float>(data.features.view()));
  card->load(data.rows(), data.all(), context);
  if (validates) card->load_validation(data.rows(), data.all(), context);
  return card;
}

inline CardNetworkOptions criteo_options() {
  CardNetworkOptions options;
  options.network = {.inputs = 12,
                     .shared = {128},
                     .heads = std::vector<std::size_t>{64},
                     .revenue = {.num_arms = 2, .kind = loss::OutcomeKind::binary},
                     .cost = {.num_arms = 2, .kind = loss::OutcomeKind::binary}};
  options.prediction = {loss::OutcomeKind::binary, loss::OutcomeKind::binary};
  return options;
}

inline CardNetworkOptions marketing_options() {
  CardNetworkOptions options;
  options.network = {.inputs = 107,
                     .shared = {64, 32, 32},
                     .revenue = {.num_arms = 5, .kind = loss::OutcomeKind::binary},
                     .cost = {.num_arms = 5, .kind = loss::OutcomeKind::binary}};
  options.prediction = {loss::OutcomeKind::binary, loss::OutcomeKind::binary};
  return options;
}

inline CardNetworkOptions with_decision(CardNetworkOptions options, DecisionKind kind, loss::Baseline baseline) {
  options.decision = kind;
  options.decision_options = {
      .multipliers = {0.1, 0.2, 0.4, 0.6, 0.8, 1.0}, .baseline = baseline, .temperature = 0.3, .window = 0.3};
  options.decision_weight = 0.7;
  return options;
}

// Widths that are no multiples of anything, heads with two hidden layers, three arms.
inline CardNetworkOptions odd_options(learn::OutcomeFacts revenue, learn::OutcomeFacts cost) {
  CardNetworkOptions options;
  revenue.num_arms = cost.num_arms = 3;
  options.network = {
      .inputs = 7, .shared = {19, 33}, .heads = std::vector<std::size_t>{10, 5}, .revenue = revenue, .cost = cost};
  options.prediction = {revenue.kind, cost.kind};
  return options;
}

inline std::vector<Case> all_cases() {
  using loss::Baseline;
  using loss::OutcomeKind;
  std::vector<Case> cases = {{"criteo two-stage", criteo_options()}, {"marketing two-stage", marketing_options()}};
  const auto add = [&](const char* name, CardNetworkOptions options) { cases.push_back({name, std::move(options)}); };
  add("criteo mer", with_decision(criteo_options(), DecisionKind::policy, Baseline::mean));
  add("criteo ifd", with_decision(criteo_options(), DecisionKind::ifd, Baseline::mean));
  add("marketing mer dr", with_decision(marketing_options(), DecisionKind::policy, Baseline::doubly_robust));
  add("marketing ifd", with_decision(marketing_options(), DecisionKind::ifd, Baseline::none));
  add("marketing ifd-softmax", with_decision(marketing_options(), DecisionKind::ifd_softmax, Baseline::mean));
  CardNetworkOptions published = with_decision(marketing_options(), DecisionKind::ifd, Baseline::none);
  published.decision_options.as_published = true;
  published.decision_options.gradient_to_cost = false;
  add("marketing ifd as published", published);
  add("odd, log link", odd_options({.kind = OutcomeKind::non_negative}, {.kind = OutcomeKind::non_negative}));
  add("odd, free control, mer", with_decision(odd_options({.kind = OutcomeKind::non_negative},
                                                          {.kind = OutcomeKind::non_negative, .control_is_free = true}),
                                              DecisionKind::policy, Baseline::mean));
  add("odd, real, softplus cost, mer",
      with_decision(odd_options({.kind = OutcomeKind::real}, {.kind = OutcomeKind::real, .non_negative = true}),
                    DecisionKind::policy, Baseline::none));
  add("odd, monotone and concave, mer",
      with_decision(odd_options({.kind = OutcomeKind::non_negative, .arm_shape = learn::ArmShape::monotone},
                                {.kind = OutcomeKind::real,
                                 .arm_shape = learn::ArmShape::concave,
                                 .non_negative = true,
                                 .control_is_free = true}),
                    DecisionKind::policy, Baseline::mean));
  CardNetworkOptions linear = odd_options({.kind = OutcomeKind::real}, {.kind = OutcomeKind::binary});
  linear.network.shared = {};
  linear.network.heads = {};
  add("linear", linear);
  CardNetworkOptions wide = marketing_options();
  wide.network.shared = {256, 128, 64};
  wide.network.revenue.num_arms = wide.network.cost.num_arms = 7;
  add("wide, seven arms", with_decision(wide, DecisionKind::policy, Baseline::mean));
  CardNetworkOptions clipped = criteo_options();
  clipped.adam.clip_norm = 0.05;
  clipped.adam.weight_decay = 0.02;
  clipped.adam.warmup_steps = 10;
  clipped.adam.total_steps = 40;
  add("clipped, decay, schedule", clipped);
  return cases;
}

}  // namespace dfcl::nn::cuda
