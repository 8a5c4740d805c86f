// SPDX-License-Identifier: Apache-2.0
//
// Training steps (gather, forward, loss, backward, Adam) and predictions on the two published networks, in rows a
// second, beside the rate of the same matrix products alone and of one large product. Usage: bench_nn [NETWORK METHOD
// BATCH [SECONDS [THREADS]]], of criteo or marketing; tsm, whole (tsm through the heads of all arms), mer or ifd; or
// decision, which says how many times as long as a squared-error step through the whole network a step of mer and ifd
// takes. Without arguments the whole table, on two threads.
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
#include "dfcl/loss/ifd_loss.h"
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

nn::OutcomeNetworkOptions options_of(const std::string& network, const std::string& method = "") {
  if (network == "criteo") {
    const auto kind = method == "squared" ? loss::OutcomeKind::real : loss::OutcomeKind::binary;
    return {.inputs = 12,
            .shared = {128},
            .heads = std::vector<std::size_t>{64},
            .revenue = {.num_arms = 2, .kind = kind},
            .cost = {.num_arms = 2, .kind = kind}};
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

const std::vector<double> kMultipliers = {0.1, 0.2, 0.4, 0.6, 0.8, 1.0};

// A network with everything that a training step needs.
class Trainer {
 public:
  Trainer(const std::string& network, const std::string& method, const Data& data)
      : options_(options_of(network, method)),
        method_(method),
        data_(data),
        model_(options_),
        engine_(model_),
        state_(model_.network().num_parameters()),
        gradient_(model_.network().num_parameters()),
        prediction_({options_.revenue.kind, options_.cost.kind}),
        mer_({.multipliers = kMultipliers, .temperature = 0.1}),
        ifd_({.multipliers = kMultipliers, .window = 0.1}) {
    model_.network().initialise(3);
    losses_.push_back({&prediction_, 1.0});
    if (method == "mer") losses_.push_back({&mer_, 1.0});
    if (method == "ifd") losses_.push_back({&ifd_, 1.0});
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
  loss::PolicyLoss<float> mer_;
  loss::IfdLoss<float> ifd_;
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

// Operations a second of one large product on every thread at once, about the most that a product reaches.
double large_product_rate(core::RunContext& context) {
  constexpr std::size_t kSize = 512;
  constexpr std::size_t kTimes = 4;
  const auto threads = static_cast<std::size_t>(context.pool.threads());
  const Clock::time_point start = Clock::now();
  core::for_each_chunk(context, threads, 1, [&](std::size_t, std::size_t, std::size_t) {
    thread_local std::vector<float> factor(kSize * kSize, 0.5f);
    thread_local std::vector<float> result(kSize * kSize);
    for (std::size_t i = 0; i < kTimes; ++i) {
      nn::multiply(kSize, kSize, kSize, nn::Factor<float>{factor.data(), kSize},
                   nn::Factor<float>{factor.data(), kSize}, false, result.data(), kSize);
    }
  });
  return static_cast<double>(threads * kTimes * 2 * kSize * kSize * kSize) / seconds_since(start);
}

// Operations of a prediction, two a weight.
double operations_of(const nn::Network<float>& network) {
  double operations = 0.0;
  for (const nn::Tensor& tensor : network.tensors()) {
    if (tensor.name.ends_with("weight")) operations += 2.0 * static_cast<double>(tensor.size());
  }
  return operations;
}

Rate predict_rate(core::RunContext& context, const nn::OutcomeNetwork<float>& model, const Data& data,
                  core::Matrix<float>& revenue, core::Matrix<float>& cost) {
  const std::size_t rows = data.features.rows();
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
  double large_product = 0.0;
  core::Matrix<float> revenue(data.features.rows(), trainer.model().revenue().num_arms());
  core::Matrix<float> cost(data.features.rows(), trainer.model().cost().num_arms());
  const Clock::time_point start = Clock::now();
  for (std::uint64_t epoch = 0; epoch < 2 || seconds_since(start) < seconds; ++epoch) {
    step.raise_to(epoch_rate(context, trainer, data, batch, epoch));
    products.raise_to(products_rate(context, network, method));
    prediction.raise_to(predict_rate(context, trainer.model(), data, revenue, cost));
    large_product = std::max(large_product, large_product_rate(context));
  }
  fmt::print(
      R"({{"network": "{}", "method": "{}", "batch": {}, "rows_per_second": {:.0f}, "products_rows_per_second": {:.0f}, )"
      R"("predict_rows_per_second": {:.0f}, "predict_rows_per_processor_second": {:.0f}, "rows_per_processor_second": {:.0f}, "share_of_products": {:.2f}, )"
      R"("predict_gflops": {:.1f}, "large_product_gflops": {:.1f}}})"
      "\n",
      network, method, batch, step.rows_per_second, products.rows_per_second, prediction.rows_per_second,
      prediction.rows_per_processor_second, step.rows_per_processor_second,
      step.rows_per_processor_second / products.rows_per_processor_second,
      prediction.rows_per_second * operations_of(trainer.model().network()) / 1e9, large_product / 1e9);
  std::fflush(stdout);
}

// In turn, so that all have the same machine.
void run_decision(const std::string& network, std::size_t batch, double seconds, int threads, Data& data) {
  core::RunContext context(threads);
  Trainer squared(network, "squared", data);
  Trainer mer(network, "mer", data);
  Trainer ifd(network, "ifd", data);
  Rate rates[3];
  const Clock::time_point start = Clock::now();
  for (std::uint64_t epoch = 0; epoch < 3 || seconds_since(start) < seconds; ++epoch) {
    rates[0].raise_to(epoch_rate(context, squared, data, batch, epoch));
    rates[1].raise_to(epoch_rate(context, mer, data, batch, epoch));
    rates[2].raise_to(epoch_rate(context, ifd, data, batch, epoch));
  }
  fmt::print(R"({{"network": "{}", "batch": {}, "squared_rows_per_second": {:.0f}, "mer_over_squared": {:.2f}, )"
             R"("ifd_over_squared": {:.2f}}})"
             "\n",
             network, batch, rates[0].rows_per_second, rates[0].rows_per_second / rates[1].rows_per_second,
             rates[0].rows_per_second / rates[2].rows_per_second);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 4) {
    const std::size_t batch = std::strtoull(argv[3], nullptr, 10);
    Data data(std::max<std::size_t>(batch < 5000 ? 200'000 : 400'000, batch), options_of(argv[1]));
    const double seconds = argc > 4 ? std::strtod(argv[4], nullptr) : 5.0;
    const int threads = argc > 5 ? std::atoi(argv[5]) : 2;
    if (std::string(argv[2]) == "decision") {
      run_decision(argv[1], batch, seconds, threads, data);
    } else {
      run(argv[1], argv[2], batch, seconds, threads, data);
    }
    return 0;
  }
  for (const std::string network : {"criteo", "marketing"}) {
    Data data(600'000, options_of(network));
    for (const std::string method : {"tsm", "whole", "mer"}) {
      if (network == "marketing" && method == "whole") continue;  // one trunk: nothing to skip
      for (const std::size_t batch : {1024u, 8192u, 65536u, 300'000u}) run(network, method, batch, 4.0, 2, data);
    }
    run_decision(network, 8192, 8.0, 2, data);
  }
  return 0;
}
