// SPDX-License-Identifier: Apache-2.0
//
// What each loss costs beside a network: nanoseconds for each row (and multiplier) of a tile of 512 rows in float, on
// one thread, best of several rounds. Usage: bench_loss [arms] [multipliers]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/random.h"
#include "dfcl/loss/dpm_loss.h"
#include "dfcl/loss/drm_loss.h"
#include "dfcl/loss/ifd_loss.h"
#include "dfcl/loss/ifd_softmax_loss.h"
#include "dfcl/loss/policy_loss.h"
#include "dfcl/loss/prediction_loss.h"

namespace dfcl::bench {
namespace {

constexpr std::size_t kRows = 512;
constexpr int kCalls = 200;
constexpr int kRounds = 15;

struct Tile {
  core::Matrix<float> revenue, cost, scores, nuisance_revenue, nuisance_cost, by_revenue, by_cost;
  std::vector<std::uint8_t> arm;
  std::vector<float> observed_revenue, observed_cost, weight;

  explicit Tile(std::size_t arms)
      : revenue(kRows, arms),
        cost(kRows, arms),
        scores(kRows, arms - 1),
        nuisance_revenue(kRows, arms),
        nuisance_cost(kRows, arms),
        by_revenue(kRows, arms),
        by_cost(kRows, arms),
        weight(kRows, static_cast<float>(arms)) {
    core::RandomStream random(1, core::stream_purpose("bench loss"), 0);
    for (auto* matrix : {&revenue, &cost, &scores, &nuisance_revenue, &nuisance_cost}) {
      for (std::size_t i = 0; i < matrix->view().size(); ++i)
        matrix->data()[i] = static_cast<float>(random.uniform(0.1, 0.9));
    }
    for (std::size_t row = 0; row < kRows; ++row) {
      arm.push_back(static_cast<std::uint8_t>(random.below(static_cast<std::uint32_t>(arms))));
      observed_revenue.push_back(static_cast<float>(random.below(2)));
      observed_cost.push_back(static_cast<float>(random.below(2)));
    }
  }
  loss::Rows<float> rows(bool with_scores = false) const {
    return {.revenue = with_scores ? scores.view() : revenue.view(),
            .cost = cost.view(),
            .arm = arm,
            .observed_revenue = observed_revenue,
            .observed_cost = observed_cost,
            .weight = weight,
            .nuisance_revenue = nuisance_revenue.view(),
            .nuisance_cost = nuisance_cost.view()};
  }
};

void report(const char* name, const loss::Loss<float>& loss, Tile& tile, bool with_scores, std::size_t multipliers) {
  const loss::Rows<float> rows = tile.rows(with_scores);
  const loss::Gradient<float> gradient{{tile.by_revenue.data(), kRows, rows.revenue.cols}, tile.by_cost.view()};
  std::fill_n(tile.by_revenue.data(), tile.by_revenue.view().size(), 0.0f);
  std::fill_n(tile.by_cost.data(), tile.by_cost.view().size(), 0.0f);
  std::vector<double> totals(loss.num_totals());
  double best = std::numeric_limits<double>::infinity();
  double sum = 0.0;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int call = 0; call < kCalls; ++call) {
      std::fill(totals.begin(), totals.end(), 0.0);
      loss.add_totals(rows, totals);
      sum += loss.add_gradient(rows, totals, 1e-6, gradient);
    }
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  const double per_row = 1e9 * best / static_cast<double>(kCalls * kRows);
  fmt::print("{:<34} {:7.1f} ns a row {:7.2f} a row and multiplier{}\n", name, per_row,
             per_row / static_cast<double>(multipliers), std::isfinite(sum) ? "" : " (not finite)");
}

void run(std::size_t arms, std::size_t num_multipliers) {
  Tile tile(arms);
  std::vector<double> multipliers;
  for (std::size_t i = 0; i < num_multipliers; ++i) multipliers.push_back(0.1 * static_cast<double>(i + 1));
  using loss::Baseline;
  using loss::OutcomeKind;
  report("squared error", loss::PredictionLoss<float>({}), tile, false, 1);
  report("Poisson deviance", loss::PredictionLoss<float>({OutcomeKind::non_negative, OutcomeKind::non_negative}), tile,
         false, 1);
  report("cross-entropy", loss::PredictionLoss<float>({OutcomeKind::binary, OutcomeKind::binary}), tile, false, 1);
  const loss::DecisionOptions mean{.multipliers = multipliers, .temperature = 0.1, .window = 0.1};
  loss::DecisionOptions robust = mean;
  robust.baseline = Baseline::doubly_robust;
  loss::DecisionOptions published = mean;
  published.as_published = true;
  report("MER, mean", loss::PolicyLoss<float>(mean), tile, false, num_multipliers);
  report("MER, doubly robust", loss::PolicyLoss<float>(robust), tile, false, num_multipliers);
  report("IFD, mean", loss::IfdLoss<float>(mean), tile, false, num_multipliers);
  report("IFD, doubly robust", loss::IfdLoss<float>(robust), tile, false, num_multipliers);
  report("IFD, as published", loss::IfdLoss<float>(published), tile, false, num_multipliers);
  report("IFD-softmax, mean", loss::IfdSoftmaxLoss<float>(mean), tile, false, num_multipliers);
  report("DRM", loss::DrmLoss<float>(arms), tile, true, 1);
  report("DPM", loss::DpmLoss<float>(1.0), tile, true, 1);
}

}  // namespace
}  // namespace dfcl::bench

int main(int argc, char** argv) {
  const std::size_t arms = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 5;
  const std::size_t multipliers = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 6;
  dfcl::bench::run(std::max<std::size_t>(arms, 2), std::max<std::size_t>(multipliers, 1));
  return 0;
}
