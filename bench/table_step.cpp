// SPDX-License-Identifier: Apache-2.0
//
// Units per second of training steps of the network for tables: 107 numbers in 16 bins, 5 arms, 8 members, batches of
// 1,024, two-stage and with MER at six multipliers. One epoch to warm up, then the best of some.
// bench_table [units] [threads] [epochs]: a line of JSON each. processor_units: by the processor time of all threads.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <numeric>

#include "dfcl/core/random.h"
#include "dfcl/loss/policy_loss.h"
#include "dfcl/loss/prediction_loss.h"
#include "dfcl/nn/adam.h"
#include "dfcl/nn/table/table_gradient.h"

namespace {

using namespace dfcl;

constexpr std::size_t kFeatures = 107;
constexpr std::size_t kArms = 5;
constexpr std::size_t kBatch = 1024;

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Data {
  explicit Data(std::size_t units)
      : arm(units),
        revenue(units),
        cost(units),
        weight(units, 5.0f),
        nuisance_revenue(units, kArms),
        nuisance_cost(units, kArms) {
    features.values = core::Matrix<float>(units, kFeatures);
    for (std::size_t i = 0; i < kFeatures; ++i) features.columns.push_back({fmt::format("f{}", i), false, {}});
    for (std::size_t unit = 0; unit < units; ++unit) {
      core::RandomStream random(1, core::stream_purpose("bench table"), unit);
      for (float& value : features.values.row(unit)) value = static_cast<float>(random.normal());
      arm[unit] = static_cast<std::uint8_t>(random.below(kArms));
      revenue[unit] = static_cast<float>(random.uniform());
      cost[unit] = static_cast<float>(random.uniform());
      for (float& value : nuisance_revenue.row(unit)) value = static_cast<float>(random.uniform());
      for (float& value : nuisance_cost.row(unit)) value = static_cast<float>(random.uniform());
    }
  }
  data::Features features;
  std::vector<std::uint8_t> arm;
  std::vector<float> revenue, cost, weight;
  core::Matrix<float> nuisance_revenue, nuisance_cost;
};

void run(const Data& data, bool decides, int threads, int epochs) {
  core::RunContext context(threads);
  const std::size_t units = data.arm.size();
  const nn::TableEncoding encoding =
      nn::fit_table_encoding(data.features.columns, data.features.values.view(), {}, 16, context);
  const learn::OutcomeFacts facts{.num_arms = kArms, .kind = loss::OutcomeKind::non_negative};
  nn::TableNetwork<float> network(encoding, {.revenue = facts, .cost = facts});
  network.initialise(1);
  nn::TableGradient<float> gradient(network);
  const nn::TrainingRows rows{
      data.arm, data.revenue, data.cost, data.weight, data.nuisance_revenue.view(), data.nuisance_cost.view()};
  const loss::PredictionLoss<float> prediction({facts.kind, facts.kind});
  const loss::PolicyLoss<float> policy(
      {.multipliers = {0.1, 0.3, 0.5, 0.8, 1.0, 2.0}, .baseline = loss::Baseline::doubly_robust, .temperature = 0.2});
  std::vector<nn::WeightedLoss<float>> losses = {{&prediction, 1.0}};
  if (decides) losses.push_back({&policy, 1.0});
  nn::AdamState<float> adam(network.parameters().size());
  const nn::AdamOptions options{.rate = 1e-3, .weight_decay = 0.05, .clip_norm = 1.0};
  std::vector<float> slopes(network.parameters().size());
  std::vector<std::uint32_t> order(units);
  std::iota(order.begin(), order.end(), 0u);
  double best = 0.0, best_processor = 0.0;
  for (int epoch = 0; epoch <= epochs; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    const double processor = processor_seconds();
    core::RandomStream random(2, core::stream_purpose("bench order"), static_cast<std::uint64_t>(epoch));
    for (std::size_t i = units; i > 1; --i) std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i))]);
    for (std::size_t begin = 0; begin < units; begin += kBatch) {
      network.refresh(context);
      const std::size_t count = std::min(kBatch, units - begin);
      (void)gradient.compute(context, data.features.values.view(), rows, std::span(order).subspan(begin, count), losses,
                             {0.2, begin}, slopes);
      (void)nn::adam_step<float>(context, options, adam, slopes, network.parameters());
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double used = processor_seconds() - processor;
    if (epoch == 0) continue;
    best = std::max(best, static_cast<double>(units) / seconds);
    best_processor = std::max(best_processor, static_cast<double>(units) / used);
  }
  fmt::print("{{\"step\": \"{}\", \"threads\": {}, \"units_per_second\": {:.0f}, \"processor_units\": {:.0f}}}\n",
             decides ? "mer" : "two-stage", threads, best, best_processor);
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int place, int usual) { return argc > place ? std::atoi(argv[place]) : usual; };
  const Data data(static_cast<std::size_t>(number(1, 65'536)));
  for (const bool decides : {false, true}) run(data, decides, number(2, 2), number(3, 3));
}
