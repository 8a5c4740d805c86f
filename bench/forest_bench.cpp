// SPDX-License-Identifier: Apache-2.0
//
// Seconds to grow the published forest (256 trees, leaves of 300 units, depth 24) on 107 features, five arms and both
// outcomes, and to predict the same units. Usage: bench_forest [threads] [rows...]
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "dfcl/core/parallel.h"
#include "dfcl/core/random.h"
#include "dfcl/forest/predict.h"

namespace dfcl::bench {
namespace {

constexpr std::size_t kFeatures = 107;
constexpr std::size_t kArms = 5;

struct Units {
  std::vector<data::FeatureColumn> columns;
  core::Matrix<float> features;
  std::vector<std::uint32_t> rows;
  std::vector<std::uint8_t> arm;
  std::vector<float> revenue, cost, zero;
};

// Normal features; the effect of an arm is its number times a smooth function of two of them.
Units make_units(std::size_t count, core::RunContext& context) {
  Units units;
  for (std::size_t feature = 0; feature < kFeatures; ++feature)
    units.columns.push_back({.name = fmt::format("x{}", feature), .categorical = false, .levels = {}});
  units.features = core::Matrix<float>(count, kFeatures);
  units.rows.resize(count);
  units.arm.resize(count);
  units.revenue.resize(count);
  units.cost.resize(count);
  units.zero.resize(count);
  core::for_each_chunk(context, count, 4096, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t unit = begin; unit < end; ++unit) {
      core::RandomStream random(1, core::stream_purpose("bench forest"), unit);
      for (float& value : units.features.row(unit)) value = static_cast<float>(random.normal());
      const auto x = units.features.row(unit);
      units.rows[unit] = static_cast<std::uint32_t>(unit);
      units.arm[unit] = static_cast<std::uint8_t>(random.below(kArms));
      const double pull = std::log1p(std::exp(static_cast<double>(x[0]) + 0.5 * static_cast<double>(x[1])));
      const double effect = 0.1 * pull * units.arm[unit];
      units.revenue[unit] = static_cast<float>(static_cast<double>(x[2]) + effect + random.normal());
      units.cost[unit] = static_cast<float>(effect * std::exp(0.3 * static_cast<double>(x[3])) + 0.3 * random.normal());
    }
  });
  return units;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void run(std::size_t count, int threads) {
  core::RunContext context(threads, 1);
  const Units units = make_units(count, context);
  forest::ForestOptions options{.seed = 1};
  if (const char* mtry = std::getenv("DFCL_BENCH_MTRY")) options.mtry = static_cast<std::size_t>(std::atoi(mtry));
  const forest::ForestData data{.columns = units.columns,
                                .features = units.features.view(),
                                .rows = units.rows,
                                .seen = {.arm = units.arm,
                                         .revenue = units.revenue,
                                         .cost = units.cost,
                                         .base_revenue = units.zero,
                                         .base_cost = units.zero,
                                         .inverse_propensity = {},
                                         .num_arms = kArms}};
  auto start = std::chrono::steady_clock::now();
  const std::clock_t clock_start = std::clock();
  const forest::Forest grown = forest::grow_forest(data, options, context);
  const double grow_seconds = seconds_since(start);
  const double busy_seconds = static_cast<double>(std::clock() - clock_start) / CLOCKS_PER_SEC;
  core::Matrix<float> revenue(count, kArms), cost(count, kArms);
  start = std::chrono::steady_clock::now();
  forest::ForestRunner(grown, {}, {})
      .predict({.features = units.features.view(), .base_revenue = units.zero, .base_cost = units.zero}, revenue.view(),
               cost.view(), context);
  fmt::print(
      "dfcl forest {} rows, {} threads: grow {:.2f} s ({:.2f} s of all processors), predict {:.2f} s, {} leaves a "
      "tree\n",
      count, threads, grow_seconds, busy_seconds, seconds_since(start), grown.num_leaves() / grown.num_trees());
}

}  // namespace
}  // namespace dfcl::bench

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  std::vector<std::size_t> counts;
  for (int i = 2; i < argc; ++i) counts.push_back(static_cast<std::size_t>(std::atoll(argv[i])));
  if (counts.empty()) counts = {20'000, 160'000, 640'000};
  for (const std::size_t count : counts) dfcl::bench::run(count, threads);
}
