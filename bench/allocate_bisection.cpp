// SPDX-License-Identifier: Apache-2.0
//
// Compiled for the machine at hand (see CMakeLists.txt), which our own code is not.
#include "bench/allocate_bisection.h"

#include <algorithm>
#include <vector>

namespace dfcl::bench {
namespace {

constexpr std::size_t kArms = 5;
constexpr std::size_t kBlockUnits = 256;  // float32 sums inside, float64 across
constexpr int kSteps = 50;

double spend_of_rows(const float* revenue, const float* cost, std::size_t begin, std::size_t end, float multiplier) {
  double total = 0.0;
  for (std::size_t block = begin; block < end; block += kBlockUnits) {
    float part = 0.0f;
    const std::size_t block_end = std::min(end, block + kBlockUnits);
    for (std::size_t unit = block; unit < block_end; ++unit) {
      const float* unit_revenue = revenue + unit * kArms;
      const float* unit_cost = cost + unit * kArms;
      float best = unit_revenue[0] - multiplier * unit_cost[0];
      float chosen = unit_cost[0];
      for (std::size_t arm = 1; arm < kArms; ++arm) {
        const float score = unit_revenue[arm] - multiplier * unit_cost[arm];
        const bool better = score > best;
        best = better ? score : best;
        chosen = better ? unit_cost[arm] : chosen;
      }
      part += chosen;
    }
    total += static_cast<double>(part);
  }
  return total;
}

}  // namespace

float bisect_multiplier(core::MatrixView<const float> revenue, core::MatrixView<const float> cost, double budget,
                        core::RunContext& context) {
  const auto threads = static_cast<std::size_t>(context.pool.threads());
  float low = 0.0f;
  float high = 100.0f;
  for (int step = 0; step < kSteps; ++step) {
    const float middle = 0.5f * (low + high);
    std::vector<double> parts(threads * 8);  // one cache line each
    context.pool.run(threads, [&](std::size_t thread) {
      parts[thread * 8] = spend_of_rows(revenue.data, cost.data, revenue.rows * thread / threads,
                                        revenue.rows * (thread + 1) / threads, middle);
    });
    double spend = 0.0;
    for (const double part : parts) spend += part;
    (spend > budget ? low : high) = middle;
  }
  return high;
}

}  // namespace dfcl::bench
