// SPDX-License-Identifier: Apache-2.0
//
// Plain finite differences (eq. 11: a new plan for each moved prediction) against improved ones (eq. 8, 9: closed
// form): seconds of one epoch by the number of training units, five arms, one budget, the whole trial as one batch.
// Usage: bench_fd [MOST_FD_UNITS [THREADS]]; without arguments up to 2,000 units on two threads, about half a minute.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>

#include "dfcl/core/random.h"
#include "dfcl/loss/fd_loss.h"
#include "dfcl/train/member_trainer.h"

namespace {

using namespace dfcl;

constexpr std::size_t kFeatures = 12;
constexpr std::size_t kArms = 5;

// Orders that follow the features and rise with the arm; all units train.
data::Trial simulated_trial(std::size_t num_units) {
  data::Trial trial;
  for (std::size_t arm = 0; arm < kArms; ++arm) trial.arms.labels.push_back(fmt::format("{}", arm));
  trial.arms.ordered = true;
  for (std::size_t i = 0; i < kFeatures; ++i)
    trial.features.columns.push_back({.name = fmt::format("x{}", i), .categorical = false, .levels = {}});
  trial.features.values = core::Matrix<float>(num_units, kFeatures);
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    core::RandomStream random(1, core::stream_purpose("bench fd"), unit);
    for (float& value : trial.features.values.row(unit)) value = static_cast<float>(random.normal());
    const std::uint32_t arm = random.below(kArms);
    const double lift = 0.1 * arm * (1.0 + std::tanh(static_cast<double>(trial.features.values(unit, 0))));
    const auto orders = static_cast<double>(
        random.poisson(std::exp(0.5 + 0.5 * static_cast<double>(trial.features.values(unit, 1)) + lift)));
    trial.arm.push_back(static_cast<std::uint8_t>(arm));
    trial.revenue.push_back(static_cast<float>(orders));
    trial.cost.push_back(static_cast<float>(0.05 * arm * orders));
    trial.split.push_back(data::Split::train);
  }
  trial.ids = data::RowNumbers{1, num_units};
  return trial;
}

// Seconds of an epoch with the decision loss, after a warm start of one epoch.
double epoch_seconds(const data::Trial& trial, const char* method, int threads) {
  data::Study study;
  study.cost = {.control_is_free = true, .non_negative = true, .rises_with_arm = true};
  study.budgets.share_of_max = {0.3};
  study.method.name = method;
  study.method.epochs = 2;
  study.method.batch = static_cast<std::int64_t>(trial.num_units());
  core::RunContext context(threads, 1);
  const train::Preparation prepared = train::prepare(trial, study, train::find_method(method), context);
  const train::Settings settings =
      train::settings_of(study, train::find_method(method), prepared.train_rows.size(), context.seed);
  train::MemberTrainer trainer(trial, prepared, settings, 0, prepared.train_rows, context);
  trainer.run_epoch();
  const auto start = std::chrono::steady_clock::now();
  trainer.run_epoch();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t most = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2000;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 2;
  fmt::print("{:>10} {:>14} {:>14} {:>10}\n", "units", "dfcl-fd s", "dfcl-ifd s", "ratio");
  for (const std::size_t units : {250u, 500u, 1000u, 2000u, 4000u, 40'000u, 400'000u}) {
    const data::Trial trial = simulated_trial(units);
    const double ifd = epoch_seconds(trial, "dfcl-ifd", threads);
    if (units > std::min(most, loss::kMostFdRows)) {
      fmt::print("{:>10} {:>14} {:>14.4f} {:>10}\n", units, "not run", ifd, "");
      continue;
    }
    const double fd = epoch_seconds(trial, "dfcl-fd", threads);
    fmt::print("{:>10} {:>14.3f} {:>14.4f} {:>10.0f}\n", units, fd, ifd, fd / ifd);
    std::fflush(stdout);
  }
  return 0;
}
