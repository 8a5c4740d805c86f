// SPDX-License-Identifier: Apache-2.0
//
// Plain finite differences (eq. 11: a new plan for each moved prediction) against improved ones (eq. 8, 9: closed
// form): seconds of one epoch by the number of training units, five arms, one budget, the whole trial as one batch.
// Usage: bench_fd [MOST_FD_UNITS [THREADS [UNITS]]]; without arguments up to 2,000 units on two threads, about half a
// minute.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>

#include "dfcl/core/random.h"
#include "dfcl/loss/ifd_loss.h"
#include "dfcl/loss/prediction_loss.h"
#include "dfcl/nn/adam.h"
#include "dfcl/nn/batch_gradient.h"
#include "fd_slopes.h"
#include "given_slopes_loss.h"

namespace {

using namespace dfcl;

constexpr std::size_t kFeatures = 12;
constexpr std::size_t kArms = 5;
constexpr double kBudgetPerUnit = 0.1;
constexpr double kMultiplier = 2.0;
constexpr double kStep = 0.1;

// A trial of graded arms, all of whose units train.
struct Units {
  core::Matrix<float> features;
  std::vector<std::uint8_t> arm;
  std::vector<float> revenue, cost, weight;
  std::vector<std::uint32_t> rows;  // 0, 1, ..
};

// Orders that follow the features and rise with the arm.
Units simulated_units(std::size_t num_units) {
  Units units{core::Matrix<float>(num_units, kFeatures), {}, {}, {}, {}, {}};
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    core::RandomStream random(1, core::stream_purpose("bench fd"), unit);
    for (float& value : units.features.row(unit)) value = static_cast<float>(random.normal());
    const std::uint32_t arm = random.below(kArms);
    const double lift = 0.1 * arm * (1.0 + std::tanh(static_cast<double>(units.features(unit, 0))));
    const auto orders =
        static_cast<double>(random.poisson(std::exp(0.5 + 0.5 * static_cast<double>(units.features(unit, 1)) + lift)));
    units.arm.push_back(static_cast<std::uint8_t>(arm));
    units.revenue.push_back(static_cast<float>(orders));
    units.cost.push_back(static_cast<float>(0.05 * arm * orders));
    units.weight.push_back(static_cast<float>(kArms));
    units.rows.push_back(static_cast<std::uint32_t>(unit));
  }
  return units;
}

// The network, and one step on the whole trial as a batch.
class Trainer {
 public:
  Trainer(const Units& units, core::RunContext& context)
      : units_(units),
        context_(context),
        network_(shape()),
        gradient_(network_),
        adam_(network_.network().num_parameters()) {
    network_.network().initialise(1);
  }

  // Slopes of the plans under a budget, worked out for the batch, then a step along them.
  void step_by_differences() {
    const auto [revenue, cost] = predictions();
    const loss::Rows<float> rows{revenue.view(), cost.view(), units_.arm, units_.revenue, units_.cost, units_.weight};
    const bench::FdSlopes slopes = bench::fd_slopes(rows, {kBudgetPerUnit}, loss::Baseline::mean,
                                                    {.step = kStep, .gradient_to_cost = true}, context_);
    const bench::GivenSlopes given{slopes.revenue.view(), slopes.cost.view(), slopes.loss};
    step(bench::GivenSlopesLoss(given));
  }

  void step_by_closed_form() { step(loss::IfdLoss<float>({.multipliers = {kMultiplier}, .window = kStep})); }

 private:
  static nn::OutcomeNetworkOptions shape() {
    nn::OutcomeNetworkOptions options;
    options.inputs = kFeatures;
    options.shared = {64, 32, 32};
    options.revenue = {.num_arms = kArms, .kind = loss::OutcomeKind::non_negative};
    options.cost = {.num_arms = kArms, .kind = loss::OutcomeKind::non_negative, .control_is_free = true};
    return options;
  }

  std::pair<core::Matrix<float>, core::Matrix<float>> predictions() {
    core::Matrix<float> revenue(units_.rows.size(), kArms), cost(units_.rows.size(), kArms);
    const nn::FillRange<float> fill = [&](std::size_t first, core::MatrixView<float> inputs) {
      std::copy_n(units_.features.row(first).data(), inputs.rows * inputs.cols, inputs.data);
    };
    nn::predict<float>(context_, network_, units_.rows.size(), fill, revenue.view(), cost.view());
    return {std::move(revenue), std::move(cost)};
  }

  void step(const loss::Loss<float>& decision) {
    const loss::PredictionLoss<float> prediction(
        {.revenue = loss::OutcomeKind::non_negative, .cost = loss::OutcomeKind::non_negative});
    const nn::WeightedLoss<float> losses[] = {{&prediction, 1.0}, {&decision, 1.0}};
    const nn::TrainingRows data{units_.arm, units_.revenue, units_.cost, units_.weight};
    std::vector<float> gradient(network_.network().num_parameters());
    (void)gradient_.compute(context_, nn::inputs_from<float>(units_.features.view()), data, units_.rows, losses, {},
                            gradient);
    (void)nn::adam_step<float>({}, adam_, gradient, network_.network().parameters());
  }

  const Units& units_;
  core::RunContext& context_;
  nn::OutcomeNetwork<float> network_;
  nn::BatchGradient<float> gradient_;
  nn::AdamState<float> adam_;
};

template <class Step>
double seconds_of(Step&& step) {
  const auto start = std::chrono::steady_clock::now();
  step();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t most = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2000;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 2;
  std::vector<std::size_t> sizes = {250, 500, 1000, 2000, 4000, 40'000, 400'000};
  if (argc > 3) sizes = {std::strtoull(argv[3], nullptr, 10)};
  fmt::print("{:>10} {:>14} {:>14} {:>10}\n", "units", "fd s", "ifd s", "ratio");
  for (const std::size_t size : sizes) {
    const Units units = simulated_units(size);
    core::RunContext context(threads, 1);
    Trainer trainer(units, context);
    trainer.step_by_closed_form();  // memory is made in the first step
    const double ifd = seconds_of([&] { trainer.step_by_closed_form(); });
    if (size > std::min(most, loss::kMostFdRows)) {
      fmt::print("{:>10} {:>14} {:>14.4f} {:>10}\n", size, "not run", ifd, "");
      continue;
    }
    const double fd = seconds_of([&] { trainer.step_by_differences(); });
    fmt::print("{:>10} {:>14.3f} {:>14.4f} {:>10.0f}\n", size, fd, ifd, fd / ifd);
    std::fflush(stdout);
  }
  return 0;
}
