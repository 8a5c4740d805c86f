// SPDX-License-Identifier: Apache-2.0
//
// The engine for graphics cards against the processor: gradients, 50 steps, predictions, losses, the same bytes twice.
// A program of its own, so that a machine with nothing but nvcc can build it. Prints a line a check and ends with 1
// where one fails. Usage: cuda_engine_check [quick]; quick: few rows and cases, for compute-sanitizer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/loss/ifd_loss.h"
#include "dfcl/loss/ifd_softmax_loss.h"
#include "dfcl/loss/policy_loss.h"
#include "dfcl/nn/cuda/shuffle.h"
#include "tests/cuda/cases.h"
#include "tests/cuda/expect.h"
#include "tests/cuda/same_bytes.h"

namespace dfcl::nn::cuda {
namespace {

// The processor's side, in float or double.
template <class T>
class Reference {
 public:
  explicit Reference(const CardNetworkOptions& options)
      : options_(options),
        context_(0),
        model_(options.network),
        engine_(model_),
        adam_(model_.network().num_parameters()),
        gradient_(model_.network().num_parameters()),
        prediction_(options.prediction) {
    model_.network().initialise(3);
    for (T& value : model_.network().parameters()) value = static_cast<T>(static_cast<float>(value));
    losses_.push_back({&prediction_, options.prediction_weight});
    if (options.decision == DecisionKind::policy) {
      decision_ = std::make_unique<loss::PolicyLoss<T>>(options.decision_options);
    } else if (options.decision == DecisionKind::ifd) {
      decision_ = std::make_unique<loss::IfdLoss<T>>(options.decision_options);
    } else if (options.decision == DecisionKind::ifd_softmax) {
      decision_ = std::make_unique<loss::IfdSoftmaxLoss<T>>(options.decision_options);
    }
    if (decision_) losses_.push_back({decision_.get(), options.decision_weight});
  }
  std::vector<double> compute(const SampleRows& data, std::span<const std::uint32_t> batch) {
    return engine_.compute(context_, inputs_from<T>(data.features.view()), data.rows(), batch, losses_, {}, gradient_);
  }
  void step(const SampleRows& data, std::span<const std::uint32_t> batch) {
    compute(data, batch);
    adam_step<T>(options_.adam, adam_, gradient_, model_.network().parameters());
  }
  void set_parameters(std::span<const float> values) {
    std::ranges::transform(values, model_.network().parameters().begin(), [](float x) { return static_cast<T>(x); });
  }
  std::span<T> parameters() { return model_.network().parameters(); }
  // Revenue of all rows and arms, then cost.
  std::vector<float> predict(const SampleRows& data) {
    const std::size_t num_rows = data.features.rows();
    core::Matrix<T> revenue(num_rows, model_.cost().num_arms()), cost(num_rows, model_.cost().num_arms());
    nn::predict<T>(
        context_, model_, num_rows,
        [&](std::size_t first, core::MatrixView<T> to) {
          const float* from = data.features.data() + first * data.features.cols();
          std::transform(from, from + to.size(), to.data, [](float x) { return static_cast<T>(x); });
        },
        revenue.view(), cost.view());
    std::vector<float> both = to_float({revenue.data(), revenue.rows() * revenue.cols()});
    for (const float value : to_float({cost.data(), cost.rows() * cost.cols()})) both.push_back(value);
    return both;
  }
  CardState state() const {
    const auto parameters = model_.network().parameters();
    return {to_float(parameters), to_float(adam_.mean), to_float(adam_.mean_square), adam_.step};
  }
  std::vector<float> gradient() const { return to_float(gradient_); }

 private:
  static std::vector<float> to_float(std::span<const T> values) {
    std::vector<float> copy;
    for (const T value : values) copy.push_back(static_cast<float>(value));
    return copy;
  }

  CardNetworkOptions options_;
  core::RunContext context_;
  OutcomeNetwork<T> model_;
  BatchGradient<T> engine_;
  AdamState<T> adam_;
  std::vector<T> gradient_;
  loss::PredictionLoss<T> prediction_;
  std::unique_ptr<loss::Loss<T>> decision_;
  std::vector<WeightedLoss<T>> losses_;
};

SampleRows rows_for(const CardNetworkOptions& options, std::size_t num_rows) {
  return SampleRows(num_rows, options.network.inputs, options.network.cost.num_arms, 11);
}

// `steps` batches of random rows, one after the other.
std::vector<std::uint32_t> random_batches(std::size_t num_rows, std::size_t steps, std::size_t batch) {
  std::vector<std::uint32_t> order;
  core::RandomStream random(5, core::stream_purpose("card batches"), 0);
  for (std::size_t i = 0; i < steps * batch; ++i) order.push_back(random.below(static_cast<std::uint32_t>(num_rows)));
  return order;
}

void check_gradient(const Case& sample, std::size_t num_rows, Precision precision, std::size_t tile_rows,
                    double tolerance) {
  core::RunContext context(0);
  CardNetworkOptions options = sample.options;
  options.precision = precision;
  options.tile_rows = tile_rows;
  options.batch = num_rows;
  const SampleRows data = rows_for(options, num_rows);
  Reference<double> reference(options);
  const std::vector<std::uint32_t> order = data.all();
  const std::vector<double> means = reference.compute(data, order);
  const auto card = card_with(options, data);
  card->set_state(reference.state());
  const EpochResult result = card->run_epoch(order, 0, 0, context);
  const double distance = relative_distance(card->gradient(), reference.gradient());
  const double loss_distance = std::fabs(result.losses.prediction - means[0]) / std::fabs(means[0]) +
                               (means.size() > 1 ? std::fabs(result.losses.decision - means[1]) : 0.0);
  expect(distance < tolerance && loss_distance < tolerance,
         fmt::format("gradient, {}, {}, tile {}: distance {:.1e}, of losses {:.1e}", sample.name,
                     core::name_of(precision), card->use().tile_rows, distance, loss_distance));
}

// What rounding may do to a gradient where no sum is near a kink.
constexpr double kNearGradient = 2e-5;

// How far double's gradient is from itself where the parameters are moved by eight last bits of float.
double spread_of_gradient(Reference<double>& exact, const SampleRows& data, std::span<const std::uint32_t> rows,
                          std::span<const float> parameters, std::span<const float> truth) {
  double most = 0.0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    core::RandomStream random(seed, core::stream_purpose("card perturbation"), 1);
    exact.set_parameters(parameters);
    for (double& value : exact.parameters()) value *= random.bernoulli(0.5) ? 1.0 + 0x1p-21 : 1.0 - 0x1p-21;
    exact.compute(data, rows);
    most = std::max(most, relative_distance(exact.gradient(), truth));
  }
  return most;
}

// One step at a time, each from where the processor's float is: the gradient against that of double at the same
// parameters, and what Adam makes of the card's gradient against the processor's. No step inherits another's rounding.
// A sum that is zero but for rounding may be on either side of a ReLU, or of a choice between arms, and a row's part of
// the gradient with it: a step may be further off only where the processor's own double is as far from itself
// (spread_of_gradient), and nine in ten may not.
void check_each_step(const Case& sample, std::size_t num_rows, std::size_t steps, std::size_t batch) {
  core::RunContext context(0);
  CardNetworkOptions options = sample.options;
  options.precision = Precision::fp32;
  options.batch = batch;
  const SampleRows data = rows_for(options, num_rows);
  Reference<float> path(options);
  Reference<double> exact(options);
  const auto card = card_with(options, data);
  const std::vector<std::uint32_t> order = random_batches(num_rows, steps, batch);
  std::vector<double> distances;
  bool excused = true;
  double from_adam = 0.0;
  for (std::size_t step = 0; step < steps; ++step) {
    const auto rows = std::span(order).subspan(step * batch, batch);
    const CardState before = path.state();
    exact.set_parameters(before.parameters);
    exact.compute(data, rows);
    card->set_state(before);
    card->run_epoch(rows, 0, 0, context);
    const std::vector<float> truth = exact.gradient();
    distances.push_back(relative_distance(card->gradient(), truth));
    if (distances.back() >= kNearGradient) {
      const double spread = spread_of_gradient(exact, data, rows, before.parameters, truth);
      excused = excused && distances.back() < 4.0 * spread;
    }
    AdamState<float> adam(0);
    adam.mean = before.mean;
    adam.mean_square = before.mean_square;
    adam.step = before.step;
    std::vector<float> parameters = before.parameters;
    adam_step<float>(options.adam, adam, card->gradient(), parameters);
    from_adam = std::max(from_adam, relative_distance(card->state().parameters, parameters));
    path.step(data, rows);
  }
  std::ranges::sort(distances);
  const double most = distances[steps - 1 - steps / 10];
  expect(most < kNearGradient && excused && from_adam < 1e-6,
         fmt::format(
             "each of {} steps, {}: gradient {:.1e} from double, nine in ten within {:.1e}, median {:.1e}; Adam {:.1e}",
             steps, sample.name, distances.back(), most, distances[steps / 2], from_adam));
}

// How far the processor's own double ends from itself where every step moves the parameters by eight last bits of
// float, about what rounding does to a gradient.
double spread_of(const CardNetworkOptions& options, const SampleRows& data, std::span<const std::uint32_t> order,
                 std::span<const float> truth) {
  double most = 0.0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Reference<double> moved(options);
    core::RandomStream random(seed, core::stream_purpose("card perturbation"), 0);
    for (std::size_t begin = 0; begin < order.size(); begin += options.batch) {
      for (double& value : moved.parameters()) value *= random.bernoulli(0.5) ? 1.0 + 0x1p-21 : 1.0 - 0x1p-21;
      moved.step(data, order.subspan(begin, options.batch));
    }
    most = std::max(most, relative_distance(moved.state().parameters, truth));
  }
  return most;
}

// All steps on the card by themselves. Adam makes a whole step of a unit's first gradient, however small: a sum that is
// zero but for rounding decides then where parameters go, on the processor too. Where the card ends further off than
// 1e-4, the processor must be as far from itself; check_each_step excuses nothing of that kind.
void check_steps(const Case& sample, std::size_t num_rows, std::size_t steps, std::size_t batch) {
  core::RunContext context(0);
  CardNetworkOptions options = sample.options;
  options.precision = Precision::fp32;
  options.batch = batch;
  const SampleRows data = rows_for(options, num_rows);
  Reference<double> reference(options);
  const auto card = card_with(options, data, true);
  card->set_state(reference.state());
  const std::vector<std::uint32_t> order = random_batches(num_rows, steps, batch);
  for (std::size_t step = 0; step < steps; ++step) reference.step(data, std::span(order).subspan(step * batch, batch));
  card->run_epoch(order, 0, 0, context);
  const std::size_t num_arms = options.network.cost.num_arms;
  core::Matrix<float> revenue(num_rows, num_arms), cost(num_rows, num_arms);
  card->predict(revenue.view(), cost.view(), context);
  std::vector<float> predicted(revenue.data(), revenue.data() + num_rows * num_arms);
  predicted.insert(predicted.end(), cost.data(), cost.data() + num_rows * num_arms);
  const CardState truth = reference.state();
  const double distance = relative_distance(card->state().parameters, truth.parameters);
  const double distance_predicted = relative_distance(predicted, reference.predict(data));
  const bool near = distance < 1e-4 && distance_predicted < 1e-4;
  const double spread = near ? 0.0 : spread_of(options, data, order, truth.parameters);
  const bool excused = distance < 4.0 * spread && distance_predicted < 16.0 * spread && distance < 5e-3;
  expect((near || excused) && card->state().step == steps,
         fmt::format("{} steps, {}: parameters {:.1e} from double, predictions {:.1e}{}", steps, sample.name, distance,
                     distance_predicted, near ? "" : fmt::format(" (the processor from itself {:.1e})", spread)));
}

void check_same_bytes(const Case& sample, std::size_t num_rows, Precision precision) {
  CardNetworkOptions wanted = sample.options;
  wanted.precision = precision;
  wanted.batch = num_rows / 3;
  const SampleRows data = rows_for(wanted, num_rows);
  const CardState start = Reference<float>(wanted).state();
  expect_same_bytes(fmt::format("{}, {}", sample.name, core::name_of(precision)), wanted,
                    [&](const CardNetworkOptions& options) {
                      const auto card = card_with(options, data, true);
                      return fit_on(*card, start, num_rows, options.network.cost.num_arms);
                    });
}

void check_shuffle() {
  bool all = true;
  for (const std::uint32_t count : {1u, 2u, 3u, 5u, 1000u, 65'537u}) {
    const Shuffle shuffle = Shuffle::of(count, 7, 2);
    std::vector<bool> seen(count, false);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t row = shuffle.row(i);
      all = all && row < count && !seen[row];
      seen[row] = true;
    }
  }
  std::size_t unmoved = 0;
  const Shuffle shuffle = Shuffle::of(100'000, 7, 3);
  for (std::uint32_t i = 0; i < 100'000; ++i) unmoved += shuffle.row(i) == i ? 1 : 0;
  expect(all && unmoved < 12, "a shuffle names every row once and leaves few in place");
}

void check_failures() {
  core::RunContext context(0);
  CardNetworkOptions options = criteo_options();
  options.batch = 100;
  SampleRows data = rows_for(options, 300);
  data.revenue[250] = std::numeric_limits<float>::quiet_NaN();
  const auto card = card_with(options, data);
  card->set_state(Reference<float>(options).state());
  const EpochResult result = card->run_epoch(data.all(), 0, 0, context);
  expect(result.failed_step == 2u, "an outcome that is not finite fails its step");
  options.network.revenue.num_arms = options.network.cost.num_arms = 100;
  bool refused = false;
  try {
    (void)make_card(options, inputs_from<float>(data.features.view()));
  } catch (const core::Error& error) {
    refused = error.kind() == core::ErrorKind::unavailable;
  }
  expect(refused, "too many arms are refused");
}

int run(bool quick) {
  const std::string name = card_name();
  if (name.empty()) {
    fmt::print("not run: no graphics card\n");
    return 5;
  }
  fmt::print("{}\n", name);
  const std::vector<Case> cases = all_cases();
  check_shuffle();
  for (const Case& sample : cases) {
    check_gradient(sample, quick ? 150 : 1000, Precision::fp32, 0, 1e-4);
    check_each_step(sample, quick ? 150 : 1000, quick ? 2 : 50, quick ? 70 : 300);
    check_steps(sample, quick ? 150 : 1000, quick ? 2 : 50, quick ? 70 : 300);
    // Of few rows little is left of the gradient and much of the rounding.
    if (!quick) check_gradient(sample, 30'000, Precision::tf32, 0, 1e-2);
    if (!quick) check_gradient(sample, 30'000, Precision::bf16, 0, 5e-2);
  }
  if (!quick) {
    for (const std::size_t tile_rows : {32u, 64u, 128u}) {
      for (const std::size_t i : {0u, 1u, 4u}) check_gradient(cases[i], 30'000, Precision::fp32, tile_rows, 1e-4);
      check_gradient(cases[2], 30'000, Precision::tf32, tile_rows, 5e-3);
      for (const std::size_t i : {0u, 1u, 2u}) check_gradient(cases[i], 30'000, Precision::bf16, tile_rows, 5e-2);
    }
  }
  for (const std::size_t i : {0u, 3u}) check_same_bytes(cases[i], quick ? 150 : 50'000, Precision::tf32);
  check_same_bytes(cases[4], quick ? 150 : 50'000, Precision::fp32);
  for (const std::size_t i : {0u, 4u}) check_same_bytes(cases[i], quick ? 150 : 50'000, Precision::bf16);
  check_failures();
  fmt::print("{} failures\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace dfcl::nn::cuda

int main(int argc, char** argv) {
  try {
    return dfcl::nn::cuda::run(argc > 1 && std::string(argv[1]) == "quick");
  } catch (const std::exception& error) {
    fmt::print("FAIL {}\n", error.what());
    return 1;
  }
}
