// SPDX-License-Identifier: Apache-2.0
//
// A whole fit of the network for tables through the seam (nn/engine.h): 400,000 units x 107 numbers, 5 arms, a quarter
// of the units validates after each epoch; loading included. On the card, and on two threads of the processor with few
// units, whose time is taken to grow with their number. A line of JSON. cuda_fit_bench [UNITS [EPOCHS [HOST_UNITS]]]
#include <fmt/format.h>

#include <chrono>
#include <string>

#include "dfcl/core/random.h"
#include "dfcl/loss/prediction_loss.h"
#include "dfcl/nn/cuda/card_engine.h"
#include "dfcl/nn/table/table_engine.h"

namespace {

using namespace dfcl;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kFeatures = 107;
constexpr std::size_t kArms = 5;

struct Trial {
  Trial(std::size_t units, core::RunContext& context) : arm(units), outcome(units), weight(units, 5.0f), all(units, 1) {
    for (std::size_t i = 0; i < kFeatures; ++i) features.columns.push_back({fmt::format("f{}", i), false, {}});
    for (std::size_t i = 0; i < kArms; ++i) arms.labels.push_back(fmt::format("{}", i));
    features.values = core::Matrix<float>(units, kFeatures);
    context.pool.run(64, [&](std::size_t part) {
      for (std::size_t unit = part; unit < units; unit += 64) {
        core::RandomStream random(1, core::stream_purpose("bench fit"), unit);
        for (float& value : features.values.row(unit)) value = static_cast<float>(random.normal());
        arm[unit] = static_cast<std::uint8_t>(random.below(kArms));
        outcome[unit] = random.bernoulli(0.3) ? 1.0f : 0.0f;
      }
    });
    for (std::uint32_t unit = 0; unit < units; ++unit) (unit % 4 == 0 ? validation : rows).push_back(unit);
    const loss::PredictionOptions kinds{loss::OutcomeKind::binary, loss::OutcomeKind::binary};
    objective.add(std::make_unique<loss::PredictionLoss<float>>(kinds), 1.0, 1.0);
    objective.received_arm_only = true;
    set = {.features = &features,
           .arms = &arms,
           .arm = arm,
           .revenue = outcome,
           .cost = outcome,
           .scaled_revenue = outcome,
           .scaled_cost = outcome,
           .weight = weight,
           .is_training = all,
           .rows = rows,
           .validation_rows = validation};
    const learn::OutcomeFacts facts{.num_arms = kArms, .kind = loss::OutcomeKind::binary};
    options = {.revenue = facts, .cost = facts};
    encoding = nn::fit_table_encoding(features.columns, features.values.view(), all, 16, context);
  }

  // Seconds of a fit.
  double fit(std::size_t epochs, core::RunContext& context) const {
    const Clock::time_point start = Clock::now();
    const auto engine = nn::cuda::on_device(std::make_unique<nn::TableEngine>(set, objective, encoding, options, 0.2),
                                            set, objective, encoding, options, 0.2, context);
    nn::EngineState state;
    state.parameters = engine->initial_parameters(1);
    state.adam = nn::AdamState<float>(state.parameters.size());
    nn::EpochPlan plan;
    plan.rows = rows;
    plan.batch = 1024;
    plan.adam.clip_norm = 1.0;
    for (plan.epoch = 0; plan.epoch < epochs; ++plan.epoch) {
      engine->run_epoch(plan, state, context);
      engine->predict(state.parameters, validation, context);
    }
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  data::Features features;
  data::Arms arms;
  std::vector<std::uint8_t> arm;
  std::vector<float> outcome, weight;
  std::vector<std::uint8_t> all;
  std::vector<std::uint32_t> rows, validation;
  learn::Objective objective;
  learn::TrainingSet set;
  nn::TableEncoding encoding;
  nn::TableOptions options;
};

int run(int argc, char** argv) {
  const auto number = [&](int i, std::size_t usual) { return argc > i ? std::stoull(argv[i]) : usual; };
  const std::size_t units = number(1, 400'000);
  const std::size_t epochs = number(2, 20);
  const std::size_t host_units = number(3, 16'384);
  core::RunContext card(0);
  card.device = {.card = true};
  const Trial trial(units, card);
  trial.fit(1, card);  // warm
  const double on_card = trial.fit(epochs, card);
  core::RunContext host(2);
  const double on_host = Trial(host_units, host).fit(1, host) * static_cast<double>(epochs) *
                         (static_cast<double>(units) / static_cast<double>(host_units));
  fmt::print(R"({{"units": {}, "epochs": {}, "card_seconds": {:.2f}, "two_threads_seconds": {:.1f}, "ratio": {:.0f}}})"
             "\n",
             units, epochs, on_card, on_host, on_host / on_card);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
