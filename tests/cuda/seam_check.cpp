// SPDX-License-Identifier: Apache-2.0
//
// Whole fits through the seam (nn/engine.h) on a graphics card beside the processor: quality within its noise, the same
// bytes twice and after a break, and what happens where a fit does not go on the card. Prints a line a check and ends
// with 1 where one fails.
#include <cuda_runtime_api.h>

#include <memory>
#include <numeric>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/core/random.h"
#include "dfcl/loss/policy_loss.h"
#include "dfcl/loss/prediction_loss.h"
#include "dfcl/nn/cuda/card.h"
#include "dfcl/nn/cuda/card_engine.h"
#include "dfcl/nn/network_engine.h"
#include "dfcl/nn/table/table_engine.h"
#include "tests/cuda/expect.h"
#include "tests/warnings.h"

namespace dfcl::nn::cuda {
namespace {

constexpr std::size_t kUnits = 16'000;
constexpr std::size_t kNumbers = 8;
constexpr std::size_t kArms = 3;
constexpr std::size_t kEpochs = 6;

// A trial with something to learn, one unit in four of which validates.
struct SeamTrial {
  explicit SeamTrial(bool decides) {
    for (std::size_t i = 0; i < kNumbers; ++i) features.columns.push_back({fmt::format("f{}", i), false, {}});
    features.values = core::Matrix<float>(kUnits, kNumbers);
    for (std::size_t i = 0; i < kArms; ++i) arms.labels.push_back(fmt::format("{}", i));
    for (std::uint32_t unit = 0; unit < kUnits; ++unit) {
      core::RandomStream random(11, core::stream_purpose("card seam"), unit);
      auto x = features.values.row(unit);
      for (float& value : x) value = static_cast<float>(random.normal());
      arm.push_back(static_cast<std::uint8_t>(random.below(kArms)));
      const double lift = arm.back() * (x[0] > 0.0f ? 0.8 : 0.2) + std::sin(x[1]) + 0.5 * x[2] * x[3];
      revenue.push_back(random.bernoulli(1.0 / (1.0 + std::exp(-lift))) ? 1.0f : 0.0f);
      cost.push_back(random.bernoulli(0.1 + 0.2 * arm.back()) ? 1.0f : 0.0f);
      (unit % 4 == 0 ? validation : rows).push_back(unit);
    }
    weight.assign(kUnits, static_cast<float>(kArms));
    training.assign(kUnits, 1);
    const loss::PredictionOptions kinds{loss::OutcomeKind::binary, loss::OutcomeKind::binary};
    objective.add(std::make_unique<loss::PredictionLoss<float>>(kinds), 1.0, 1.0);
    objective.received_arm_only = !decides;
    if (decides) {
      objective.add(std::make_unique<loss::PolicyLoss<float>>(loss::DecisionOptions{
                        .multipliers = {0.2, 0.5, 1.0}, .baseline = loss::Baseline::mean, .temperature = 0.2}),
                    0.5, 1.0);
      objective.decides = true;
    }
    set = {.features = &features,
           .arms = &arms,
           .arm = arm,
           .revenue = revenue,
           .cost = cost,
           .scaled_revenue = revenue,
           .scaled_cost = cost,
           .weight = weight,
           .is_training = training,
           .rows = rows,
           .validation_rows = validation};
    const learn::OutcomeFacts facts{.num_arms = kArms, .kind = loss::OutcomeKind::binary};
    core::RunContext context(0);
    preprocessing = fit_preprocessing(features.columns, features.values.view(), training, Scaling::standard, context);
    network = {.inputs = preprocessing.num_inputs(), .shared = {64, 32}, .revenue = facts, .cost = facts};
    encoding = fit_table_encoding(features.columns, features.values.view(), training, 16, context);
    table = {.revenue = facts, .cost = facts};
  }

  std::unique_ptr<nn::Engine> engine(bool tables, core::RunContext& context) const {
    if (!tables) {
      return on_device(std::make_unique<NetworkEngine>(set, objective, preprocessing, network), set, objective,
                       preprocessing, network, context);
    }
    return on_device(std::make_unique<TableEngine>(set, objective, encoding, table, 0.1), set, objective, encoding,
                     table, 0.1, context);
  }

  data::Features features;
  data::Arms arms;
  std::vector<std::uint8_t> arm, training;
  std::vector<float> revenue, cost, weight;
  std::vector<std::uint32_t> rows, validation;
  learn::Objective objective;
  learn::TrainingSet set;
  Preprocessing preprocessing;
  OutcomeNetworkOptions network;
  TableEncoding encoding;
  TableOptions table;
};

struct SeamFit {
  nn::EngineState state;
  double loss = 0.0;  // of validation units: squared error of revenue
  std::vector<std::string> warnings;
};

// Epochs first .. kEpochs - 1 from `state`, or from the start.
SeamFit fit(const SeamTrial& trial, bool tables, const core::Device& device, std::uint64_t seed, std::size_t first = 0,
            const nn::EngineState* state = nullptr, std::size_t end = kEpochs) {
  Warnings warnings;
  core::RunContext context(0, seed, &warnings);
  context.device = device;
  const auto engine = trial.engine(tables, context);
  SeamFit result;
  if (state != nullptr) {
    result.state = *state;
  } else {
    result.state.parameters = engine->initial_parameters(seed);
    result.state.adam = AdamState<float>(result.state.parameters.size());
  }
  EpochPlan plan{.rows = trial.rows, .batch = 256, .seed = seed};
  plan.adam.rate = 3e-3;
  plan.adam.clip_norm = 1.0;
  for (plan.epoch = first; plan.epoch < end; ++plan.epoch) {
    if (engine->run_epoch(plan, result.state, context).failed) throw core::Error({.what = "a step failed"});
  }
  const learn::Predicted predicted = engine->predict(result.state.parameters, trial.validation, context);
  for (std::size_t i = 0; i < trial.validation.size(); ++i) {
    const std::uint32_t unit = trial.validation[i];
    const double error = predicted.revenue(i, trial.arm[unit]) - trial.revenue[unit];
    result.loss += error * error / static_cast<double>(trial.validation.size());
  }
  result.warnings = warnings.list;
  return result;
}

constexpr core::Device kCard{.card = true};
constexpr core::Device kExactCard{.card = true, .precision = core::Precision::fp32};
constexpr core::Device kShortCard{.card = true, .precision = core::Precision::bf16};
constexpr core::Device kAuto{.card = true, .may_fall_back = true};

struct Noise {
  double mean = 0.0;
  double deviation = 0.0;
};
Noise noise_of(const SeamTrial& trial, bool tables, const core::Device& device) {
  constexpr int kSeeds = 5;
  std::vector<double> losses;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) losses.push_back(fit(trial, tables, device, seed).loss);
  Noise noise{std::accumulate(losses.begin(), losses.end(), 0.0) / kSeeds, 0.0};
  for (const double loss : losses) noise.deviation += (loss - noise.mean) * (loss - noise.mean) / (kSeeds - 1);
  noise.deviation = std::sqrt(noise.deviation);
  return noise;
}

void check_quality(const SeamTrial& trial, bool tables, const std::string& name) {
  const Noise host = noise_of(trial, tables, {});
  for (const core::Device& device : {kCard, kExactCard, kShortCard}) {
    const Noise card = noise_of(trial, tables, device);
    // The means of five seeds, each with its own order of rows: four of their standard errors.
    const double most = 4.0 * std::hypot(host.deviation, card.deviation) / std::sqrt(5.0) + 1e-5;
    expect(std::fabs(card.mean - host.mean) < most,
           fmt::format("quality, {}, {}: squared error {:.5f} (deviation {:.5f}), the processor's {:.5f} ({:.5f})",
                       name, core::name_of(device.precision), card.mean, card.deviation, host.mean, host.deviation));
  }
}

bool same(const SeamFit& a, const SeamFit& b) {
  return a.state.parameters == b.state.parameters && a.state.adam.mean_square == b.state.adam.mean_square &&
         a.loss == b.loss;
}

void check_bytes(const SeamTrial& trial, bool tables, const std::string& name) {
  const SeamFit whole = fit(trial, tables, kCard, 3);
  expect(same(whole, fit(trial, tables, kCard, 3)), fmt::format("the same bytes twice, {}", name));
  const SeamFit begun = fit(trial, tables, kCard, 3, 0, nullptr, 2);
  expect(same(whole, fit(trial, tables, kCard, 3, 2, &begun.state)),
         fmt::format("the same bytes after a break, {}", name));
}

// With `auto` the processor's bytes and one warning; else an error that says how to go on.
void check_fallback(const SeamTrial& trial, bool tables, const std::string& name, const char* reason) {
  const SeamFit host = fit(trial, tables, {}, 3);
  const SeamFit fallen = fit(trial, tables, kAuto, 3);
  const std::string text = fallen.warnings.empty() ? "no warning" : fallen.warnings.front();
  expect(same(host, fallen) && fallen.warnings.size() == 1 && text.find(reason) != std::string::npos &&
             text.find('\n') == std::string::npos,
         fmt::format("{}: falls back and says \"{}\"", name, text));
  try {
    fit(trial, tables, kCard, 3);
    expect(false, name + ": refused without a choice");
  } catch (const core::Error& error) {
    expect(error.kind() == core::ErrorKind::unavailable, fmt::format("{}: refused, {}", name, error.what()));
  }
}

void check_memory(const SeamTrial& trial) {
  std::size_t free = 0;
  std::size_t total = 0;
  void* taken = nullptr;
  cudaMemGetInfo(&free, &total);
  std::size_t size = free;
  while (size > 0 && cudaMalloc(&taken, size) != cudaSuccess) size -= std::size_t{4} << 20;
  std::vector<void*> rest;  // what lies between
  for (void* more = nullptr; cudaMalloc(&more, std::size_t{1} << 20) == cudaSuccess;) rest.push_back(more);
  cudaGetLastError();
  for (const bool tables : {false, true}) {
    check_fallback(trial, tables, tables ? "no memory, network for tables" : "no memory, plain network", "memory");
  }
  for (void* more : rest) cudaFree(more);
  cudaFree(taken);
}

int run() {
  const CardAnswer card = find_card();
  if (card.name.empty()) {
    fmt::print("not run: {}\n", card.reason);
    return 5;
  }
  fmt::print("{}\n", card.name);
  for (const bool decides : {false, true}) {
    const SeamTrial trial(decides);
    for (const bool tables : {false, true}) {
      const std::string name =
          fmt::format("{}, {}", tables ? "network for tables" : "plain network", decides ? "mer" : "two-stage");
      check_quality(trial, tables, name);
      check_bytes(trial, tables, name);
    }
    if (decides) continue;
    check_memory(trial);
    SeamTrial other(false);
    other.objective.add(std::make_unique<loss::PredictionLoss<float>>(loss::PredictionOptions{}), 0.5, 0.0);
    check_fallback(other, false, "a loss that the card does not have", "does not run on a graphics card");
  }
  fmt::print("{} failures\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace dfcl::nn::cuda

int main() {
  try {
    return dfcl::nn::cuda::run();
  } catch (const std::exception& error) {
    fmt::print("FAIL {}\n", error.what());
    return 1;
  }
}
