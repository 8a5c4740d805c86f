// SPDX-License-Identifier: Apache-2.0
//
// Training steps (gather, forward, loss, backward, Adam) on the two published networks, in rows a second, beside the
// rate of the same matrix products alone. Usage: bench_nn [NETWORK METHOD BATCH [SECONDS [THREADS]]], of criteo or
// marketing; tsm, whole (tsm through the heads of all arms) or mer; without arguments the whole table, on two threads.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "dfcl/core/parallel.h"
#include "dfcl/core/random.h"
#include "dfcl/loss/policy_loss.h"
#include "dfcl/loss/prediction_loss.h"
#include "dfcl/nn/adam.h"
#include "dfcl/nn/batch_gradient.h"
#include "dfcl/nn/gemm.h"

namespace {

using namespace dfcl;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Rows a second, by the clock and by the processor time of all threads; the latter says more on a busy machine.
struct Rate {
  double rows_per_second = 0.0;
  double rows_per_processor_second = 0.0;

  void raise_to(const Rate& other) {
    rows_per_second = std::max(rows_per_second, other.rows_per_second);
    rows_per_processor_second = std::max(rows_per_processor_second, other.rows_per_processor_second);
  }
};

class Stopwatch {
 public:
  Rate rate(double rows) const {
    const double busy = static_cast<double>(std::clock() - processor_start_) / CLOCKS_PER_SEC;
    return {rows / seconds_since(start_), rows / busy};
  }

 private:
  Clock::time_point start_ = Clock::now();
  std::clock_t processor_start_ = std::clock();
};

nn::OutcomeNetworkOptions options_of(const std::string& network) {
  using loss::OutcomeKind;
  if (network == "criteo") {
    return {.inputs = 12,
            .shared = {128},
            .heads = std::vector<std::size_t>{64},
            .revenue = {.num_arms = 2, .kind = OutcomeKind::binary},
            .cost = {.num_arms = 2, .kind = OutcomeKind::binary}};
  }
  return {.inputs = 107, .shared = {64, 32, 32}, .revenue = {.num_arms = 5}, .cost = {.num_arms = 5}};
}

struct Data {
  Data(std::size_t rows, const nn::OutcomeNetworkOptions& options) : features(rows, options.inputs), order(rows) {
    for (std::size_t row = 0; row < rows; ++row) {
      core::RandomStream random(1, core::stream_purpose("bench"), row);
      for (float& value : features.row(row)) value = static_cast<float>(random.next_u32()) * 0x1p-32f;
      arm.push_back(static_cast<std::uint8_t>(random.below(static_cast<std::uint32_t>(options.cost.num_arms))));
      revenue.push_back(random.bernoulli(0.05) ? 1.0f : 0.0f);
      cost.push_back(random.bernoulli(0.1) ? 1.0f : 0.0f);
      weight.push_back(1.0f);
    }
    std::iota(order.begin(), order.end(), 0u);
  }
  nn::TrainingRows rows() const { return {.arm = arm, .revenue = revenue, .cost = cost, .weight = weight}; }
  void shuffle(std::uint64_t epoch) {
    core::RandomStream random(2, core::stream_purpose("bench order"), epoch);
    for (std::size_t i = order.size() - 1; i > 0; --i) {
      std::swap(order[i], order[random.below(static_cast<std::uint32_t>(i + 1))]);
    }
  }

  core::Matrix<float> features;
  std::vector<std::uint8_t> arm;
  std::vector<float> revenue;
  std::vector<float> cost;
  std::vector<float> weight;
  std::vector<std::uint32_t> order;
};

// A network with everything that a training step needs.
class Trainer {
 public:
  Trainer(const std::string& network, const std::string& method, const Data& data)
      : options_(options_of(network)),
        method_(method),
        data_(data),
        model_(options_),
        engine_(model_),
        state_(model_.network().num_parameters()),
        gradient_(model_.network().num_parameters()),
        prediction_({options_.revenue.kind, options_.cost.kind}),
        decision_({.multipliers = {0.1, 0.2, 0.4, 0.6, 0.8, 1.0}, .temperature = 0.1}) {
    model_.network().initialise(3);
    losses_.push_back({&prediction_, 1.0});
    if (method == "mer") losses_.push_back({&decision_, 1.0});
  }
  void step(core::RunContext& context, std::span<const std::uint32_t> batch) {
    engine_.compute(context, nn::inputs_from<float>(data_.features.view()), data_.rows(), batch, losses_,
                    {.received_arm_only = method_ == "tsm"}, gradient_);
    nn::adam_step<float>({}, state_, gradient_, model_.network().parameters());
  }
  const nn::OutcomeNetwork<float>& model() const { return model_; }

 private:
  nn::OutcomeNetworkOptions options_;
  std::string method_;
  const Data& data_;
  nn::OutcomeNetwork<float> model_;
  nn::BatchGradient<float> engine_;
  nn::AdamState<float> state_;
  std::vector<float> gradient_;
  loss::PredictionLoss<float> prediction_;
  loss::PolicyLoss<float> decision_;
  std::vector<nn::WeightedLoss<float>> losses_;
};

// Rows a second of an epoch over all rows in batches, the order drawn anew.
Rate epoch_rate(core::RunContext& context, Trainer& trainer, Data& data, std::size_t batch, std::uint64_t epoch) {
  const Stopwatch watch;
  data.shuffle(epoch);
  for (std::size_t begin = 0; begin < data.order.size(); begin += batch) {
    const std::size_t count = std::min(batch, data.order.size() - begin);
    trainer.step(context, std::span(data.order).subspan(begin, count));
  }
  return watch.rate(static_cast<double>(data.order.size()));
}

// The products of one tile: forward (outputs x inputs), and backward twice but for the first layer's inputs. Output
// layers of one number are no products.
struct Product {
  std::size_t outputs;
  std::size_t inputs;
};

Rate products_rate(core::RunContext& context, const std::string& network, const std::string& method) {
  std::vector<Product> products = {{64, 107}, {32, 64}, {32, 32}, {10, 32}};
  if (network == "criteo") products = {{128, 12}, {method == "tsm" ? 128u : 256u, 128}};
  constexpr std::size_t kRows = nn::kTileRows;
  constexpr std::size_t kTiles = 64;
  const Stopwatch watch;
  core::for_each_chunk(context, 16, 1, [&](std::size_t, std::size_t, std::size_t) {
    thread_local std::vector<float> weights(256 * 128, 0.01f);
    thread_local std::vector<float> sums(256 * 128, 0.0f);
    thread_local std::vector<float> before(256 * kRows, 0.5f);
    thread_local std::vector<float> after(256 * kRows, 0.5f);
    for (std::size_t tile = 0; tile < kTiles; ++tile) {
      for (std::size_t i = 0; i < products.size(); ++i) {
        const auto [outputs, inputs] = products[i];
        const nn::Factor<float> input{before.data(), i == 0 ? inputs : kRows, i == 0};
        nn::multiply(outputs, kRows, inputs, {weights.data(), inputs}, input, false, after.data(), kRows);
        nn::multiply(outputs, inputs, kRows, {after.data(), kRows}, {before.data(), input.stride, i != 0}, true,
                     sums.data(), inputs);
        if (i == 0) continue;
        nn::multiply(inputs, kRows, outputs, {weights.data(), inputs, true}, {after.data(), kRows}, false,
                     before.data(), kRows);
      }
      std::fill(before.begin(), before.begin() + kRows, 0.5f);  // values stay small
      if (tile % 8 == 0) std::fill(sums.begin(), sums.end(), 0.0f);
    }
  });
  return watch.rate(16.0 * kTiles * kRows);
}

Rate predict_rate(core::RunContext& context, const nn::OutcomeNetwork<float>& model, const Data& data) {
  const std::size_t rows = data.features.rows();
  core::Matrix<float> revenue(rows, model.revenue().num_arms());
  core::Matrix<float> cost(rows, model.cost().num_arms());
  const std::size_t inputs = data.features.cols();
  const Stopwatch watch;
  nn::predict<float>(
      context, model, rows,
      [&](std::size_t first, core::MatrixView<float> to) {
        std::copy_n(data.features.data() + first * inputs, to.size(), to.data);
      },
      revenue.view(), cost.view());
  return watch.rate(static_cast<double>(rows));
}

void run(const std::string& network, const std::string& method, std::size_t batch, double seconds, int threads,
         Data& data) {
  core::RunContext context(threads);
  Trainer trainer(network, method, data);
  Rate step;
  Rate products;
  Rate prediction;
  const Clock::time_point start = Clock::now();
  for (std::uint64_t epoch = 0; epoch < 2 || seconds_since(start) < seconds; ++epoch) {
    step.raise_to(epoch_rate(context, trainer, data, batch, epoch));
    products.raise_to(products_rate(context, network, method));
    prediction.raise_to(predict_rate(context, trainer.model(), data));
  }
  fmt::print(
      R"({{"network": "{}", "method": "{}", "batch": {}, "rows_per_second": {:.0f}, "products_rows_per_second": {:.0f}, )"
      R"("predict_rows_per_second": {:.0f}, "predict_rows_per_processor_second": {:.0f}, "rows_per_processor_second": {:.0f}, "share_of_products": {:.2f}}})"
      "\n",
      network, method, batch, step.rows_per_second, products.rows_per_second, prediction.rows_per_second,
      prediction.rows_per_processor_second, step.rows_per_processor_second,
      step.rows_per_processor_second / products.rows_per_processor_second);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 4) {
    const std::size_t batch = std::strtoull(argv[3], nullptr, 10);
    Data data(std::max<std::size_t>(batch < 5000 ? 200'000 : 400'000, batch), options_of(argv[1]));
    run(argv[1], argv[2], batch, argc > 4 ? std::strtod(argv[4], nullptr) : 5.0, argc > 5 ? std::atoi(argv[5]) : 2,
        data);
    return 0;
  }
  for (const std::string network : {"criteo", "marketing"}) {
    Data data(600'000, options_of(network));
    for (const std::string method : {"tsm", "whole", "mer"}) {
      if (network == "marketing" && method == "whole") continue;  // one trunk: nothing to skip
      for (const std::size_t batch : {1024u, 8192u, 65536u, 300'000u}) run(network, method, batch, 4.0, 2, data);
    }
  }
  return 0;
}
