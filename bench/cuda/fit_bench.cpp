// SPDX-License-Identifier: Apache-2.0
//
// What `auto` trains of networks, through the seam (nn/engine.h): the network for tables on 400,000 units x 107
// numbers, 5 arms; for each of three folds two-stage, MER and IFD on two thirds of the units, a quarter of which
// validates after each epoch; loading included. On the card, so many fits at a time; and on two threads of the
// processor with few units, whose time is taken to grow with their number. A line of JSON each. cuda_fit_bench [UNITS
// [EPOCHS [HOST_UNITS]]]
#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <string>

#include "dfcl/core/random.h"
#include "dfcl/core/side_by_side.h"
#include "dfcl/loss/ifd_loss.h"
#include "dfcl/loss/policy_loss.h"
#include "dfcl/loss/prediction_loss.h"
#include "dfcl/nn/cuda/card_engine.h"
#include "dfcl/nn/table/table_engine.h"

namespace {

using namespace dfcl;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kFeatures = 107;
constexpr std::size_t kArms = 5;
constexpr std::size_t kFolds = 3;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

enum class Kind { two_stage, mer, ifd };
constexpr Kind kKinds[] = {Kind::two_stage, Kind::mer, Kind::ifd};

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
    for (std::uint32_t unit = 0; unit < units; ++unit) {
      for (std::size_t fold = 0; fold < kFolds; ++fold) {
        if (unit % kFolds != fold) (unit / kFolds % 4 == 0 ? validation[fold] : rows[fold]).push_back(unit);
      }
    }
    const learn::OutcomeFacts facts{.num_arms = kArms, .kind = loss::OutcomeKind::binary};
    options = {.revenue = facts, .cost = facts};
    encoding = nn::fit_table_encoding(features.columns, features.values.view(), all, 16, context);
  }

  learn::TrainingSet set(std::size_t fold) const {
    return {.features = &features,
            .arms = &arms,
            .arm = arm,
            .revenue = outcome,
            .cost = outcome,
            .scaled_revenue = outcome,
            .scaled_cost = outcome,
            .weight = weight,
            .is_training = all,
            .rows = rows[fold],
            .validation_rows = validation[fold]};
  }

  static learn::Objective objective(Kind kind) {
    const loss::PredictionOptions kinds{loss::OutcomeKind::binary, loss::OutcomeKind::binary};
    const loss::DecisionOptions decision{.multipliers = {0.1, 0.3, 0.5, 0.8, 1.0, 2.0},
                                         .baseline = loss::Baseline::mean,
                                         .temperature = 0.2,
                                         .window = 0.2};
    learn::Objective objective;
    objective.add(std::make_unique<loss::PredictionLoss<float>>(kinds), 1.0, 1.0);
    objective.received_arm_only = kind == Kind::two_stage;
    if (kind == Kind::mer) objective.add(std::make_unique<loss::PolicyLoss<float>>(decision), 1.0, 0.0);
    if (kind == Kind::ifd) objective.add(std::make_unique<loss::IfdLoss<float>>(decision), 1.0, 0.0);
    objective.decides = kind != Kind::two_stage;
    return objective;
  }

  // The parameters that a fit ends with.
  std::vector<float> fit(Kind kind, std::size_t fold, std::size_t epochs, core::RunContext& context) const {
    const learn::TrainingSet own = set(fold);
    const learn::Objective goal = objective(kind);
    const auto engine = nn::cuda::on_device(std::make_unique<nn::TableEngine>(own, goal, encoding, options, 0.2), own,
                                            goal, encoding, options, 0.2, context);
    nn::EngineState state;
    state.parameters = engine->initial_parameters(1);
    state.adam = nn::AdamState<float>(state.parameters.size());
    nn::EpochPlan plan;
    plan.rows = own.rows;
    plan.batch = 1024;
    plan.seed = fold;
    plan.adam.clip_norm = 1.0;
    for (plan.epoch = 0; plan.epoch < epochs; ++plan.epoch) {
      engine->run_epoch(plan, state, context);
      engine->predict(state.parameters, own.validation_rows, context);
    }
    return state.parameters;
  }

  data::Features features;
  data::Arms arms;
  std::vector<std::uint8_t> arm;
  std::vector<float> outcome, weight;
  std::vector<std::uint8_t> all;
  std::vector<std::uint32_t> rows[kFolds], validation[kFolds];
  nn::TableEncoding encoding;
  nn::TableOptions options;
};

// As FoldFits runs them (dfcl/train/fold_fits.h): two-stage first, then what goes on from it.
std::vector<std::vector<float>> fit_all(const Trial& trial, std::size_t epochs, core::RunContext& context) {
  std::vector<std::vector<float>> fits(kFolds * std::size(kKinds));
  core::run_side_by_side(context, kFolds, [&](std::size_t fold, core::RunContext& own) {
    fits[fold] = trial.fit(Kind::two_stage, fold, epochs, own);
  });
  core::run_side_by_side(context, 2 * kFolds, [&](std::size_t job, core::RunContext& own) {
    fits[kFolds + job] = trial.fit(job % 2 == 0 ? Kind::mer : Kind::ifd, job / 2, epochs, own);
  });
  return fits;
}

int run(int argc, char** argv) {
  const auto number = [&](int i, std::size_t usual) { return argc > i ? std::stoull(argv[i]) : usual; };
  const std::size_t units = number(1, 400'000);
  const std::size_t epochs = number(2, 20);
  const std::size_t host_units = number(3, 16'384);
  core::RunContext context(0);
  context.device = {.card = true};
  const Trial trial(units, context);
  (void)trial.fit(Kind::two_stage, 0, 1, context);  // warm
  double best = 1e300;
  std::vector<std::vector<float>> first;
  for (const std::size_t at_once : {1u, 3u, 6u}) {
    context.device.fits_at_once = at_once;
    const Clock::time_point start = Clock::now();
    const std::vector<std::vector<float>> fits = fit_all(trial, epochs, context);
    const double seconds = seconds_since(start);
    best = std::min(best, seconds);
    if (at_once == 1) first = fits;
    bool same = true;
    for (std::size_t i = 0; i < fits.size(); ++i) {
      same = same && std::memcmp(fits[i].data(), first[i].data(), fits[i].size() * sizeof(float)) == 0;
    }
    fmt::print(R"({{"units": {}, "fits": {}, "epochs": {}, "at_once": {}, "card_seconds": {:.2f}, "same_bytes": {}}})"
               "\n",
               units, fits.size(), epochs, at_once, seconds, same);
    std::fflush(stdout);
  }
  core::RunContext host(2);
  const Trial few(host_units, host);
  double on_host = 0.0;
  for (const Kind kind : kKinds) {
    (void)few.fit(kind, 0, 1, host);
    const Clock::time_point start = Clock::now();
    (void)few.fit(kind, 0, 1, host);
    on_host += seconds_since(start);
  }
  on_host *= static_cast<double>(kFolds * epochs) * static_cast<double>(units) / static_cast<double>(host_units);
  fmt::print(R"({{"two_threads_seconds": {:.1f}, "ratio": {:.0f}}})"
             "\n",
             on_host, on_host / best);
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
