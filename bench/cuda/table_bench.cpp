// SPDX-License-Identifier: Apache-2.0
//
// Training of the network for tables on one graphics card: 107 numbers in 16 bins, 5 arms, 8 members, dropout 0.2,
// clipping; two-stage, or with MER at six multipliers. A line of JSON: million units a second of the best epoch.
// cuda_table_bench tsm|mer BATCH [tf32|fp32|bf16 [UNITS [EPOCHS [sent]]]]; sent: units stay in the machine's memory, as
// those do that are too large for the card's.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <numeric>
#include <string>

#include "dfcl/core/random.h"
#include "dfcl/nn/cuda/training_card.h"

namespace {

using namespace dfcl;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kFeatures = 107;
constexpr std::size_t kArms = 5;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Data {
  Data(std::size_t units, core::RunContext& context)
      : features(units, kFeatures),
        nuisance_revenue(units, kArms),
        nuisance_cost(units, kArms),
        arm(units),
        revenue(units),
        cost(units),
        weight(units, 5.0f),
        all(units) {
    std::iota(all.begin(), all.end(), 0u);
    context.pool.run(64, [&](std::size_t part) {
      for (std::size_t unit = part; unit < units; unit += 64) {
        core::RandomStream random(1, core::stream_purpose("bench table"), unit);
        for (float& value : features.row(unit)) value = static_cast<float>(random.normal());
        arm[unit] = static_cast<std::uint8_t>(random.below(kArms));
        revenue[unit] = static_cast<float>(random.uniform());
        cost[unit] = static_cast<float>(random.uniform());
        for (float& value : nuisance_revenue.row(unit)) value = static_cast<float>(random.uniform());
        for (float& value : nuisance_cost.row(unit)) value = static_cast<float>(random.uniform());
      }
    });
  }
  core::Matrix<float> features, nuisance_revenue, nuisance_cost;
  std::vector<std::uint8_t> arm;
  std::vector<float> revenue, cost, weight;
  std::vector<std::uint32_t> all;
};

int run(int argc, char** argv) {
  const auto text = [&](int i, const char* usual) { return std::string(argc > i ? argv[i] : usual); };
  const bool decides = text(1, "tsm") == "mer";
  const std::string precision = text(3, "tf32");
  core::RunContext context(0);
  const Data data(std::stoull(text(4, "262144")), context);
  std::vector<data::FeatureColumn> columns;
  for (std::size_t i = 0; i < kFeatures; ++i) columns.push_back({fmt::format("f{}", i), false, {}});
  const nn::TableEncoding encoding = nn::fit_table_encoding(columns, data.features.view(), {}, 16, context);
  nn::cuda::CardTableOptions options;
  const learn::OutcomeFacts facts{.num_arms = kArms, .kind = loss::OutcomeKind::non_negative};
  options.table = {.revenue = facts, .cost = facts};
  options.prediction = {facts.kind, facts.kind};
  if (decides) {
    options.decision = nn::cuda::DecisionKind::policy;
    options.decision_options = {
        .multipliers = {0.1, 0.3, 0.5, 0.8, 1.0, 2.0}, .baseline = loss::Baseline::doubly_robust, .temperature = 0.2};
  }
  options.dropout = 0.2;
  options.adam = {.rate = 1e-3, .weight_decay = 0.05, .clip_norm = 1.0};
  options.batch = std::stoull(text(2, "1024"));
  if (argc > 6) options.most_row_bytes = 0;
  for (const auto named : {core::Precision::tf32, core::Precision::fp32, core::Precision::bf16}) {
    if (core::name_of(named) == precision) options.precision = named;
  }
  nn::TableNetwork<float> network(encoding, options.table);
  network.initialise(1);
  const std::vector<float> zeros(network.parameters().size(), 0.0f);
  const auto card = nn::cuda::make_card(options, encoding, data.features.view());
  const Clock::time_point load_start = Clock::now();
  card->load({data.arm, data.revenue, data.cost, data.weight, data.nuisance_revenue.view(), data.nuisance_cost.view()},
             data.all, context);
  const double load_seconds = seconds_since(load_start);
  card->set_state({{network.parameters().begin(), network.parameters().end()}, zeros, zeros, 0});
  card->run_epoch(1, 0, context);  // warm
  double best = 1e300;
  nn::cuda::EpochResult result;
  for (int epoch = 1; epoch <= std::stoi(text(5, "3")); ++epoch) {
    const Clock::time_point start = Clock::now();
    result = card->run_epoch(1, static_cast<std::uint64_t>(epoch), context);
    best = std::min(best, seconds_since(start));
  }
  fmt::print(R"({{"method": "{}", "batch": {}, "precision": "{}", "million_units_per_second": {:.2f}, )"
             R"("microseconds_per_step": {:.1f}, "loss": {:.4f}, "load_seconds": {:.2f}}})"
             "\n",
             text(1, "tsm"), options.batch, precision, static_cast<double>(data.arm.size()) / best / 1e6,
             best / static_cast<double>(result.steps) * 1e6, result.losses.prediction, load_seconds);
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
