// SPDX-License-Identifier: Apache-2.0
//
// Training on one graphics card, on simulated rows like Criteo's (12 inputs) and the published marketing trial's (107):
// million rows a second of whole epochs, order, gather, losses and Adam included, rows on the card. Usage: cuda_bench
// [NETWORK METHOD BATCH [PRECISION [TILE_ROWS [ROWS [EPOCHS [sent]]]]]], of criteo or marketing; tsm, mer or ifd; tf32,
// fp32 or bf16; sent: rows stay in the machine's memory, as those do that are too large for the card's. Without
// arguments the whole table and the time of Criteo's 13.98 million rows x 40 epochs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "dfcl/nn/cuda/training_card.h"

namespace {

using namespace dfcl;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Fast and good enough for a benchmark: xorshift64*.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed * 2685821657736338717u + 1) {}
  float uniform() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<float>((state_ * 2685821657736338717u) >> 40) * 0x1p-24f;
  }

 private:
  std::uint64_t state_;
};

struct Data {
  Data(std::size_t rows, std::size_t inputs, std::size_t arms) : features(rows, inputs), all(rows) {
    std::iota(all.begin(), all.end(), 0u);
    Noise noise(1);
    for (std::size_t i = 0; i < rows * inputs; ++i) features.data()[i] = noise.uniform();
    for (std::size_t row = 0; row < rows; ++row) {
      arm.push_back(static_cast<std::uint8_t>(noise.uniform() * static_cast<float>(arms)));
      revenue.push_back(noise.uniform() < 0.05f ? 1.0f : 0.0f);
      cost.push_back(noise.uniform() < 0.1f ? 1.0f : 0.0f);
      weight.push_back(1.0f);
    }
  }
  nn::TrainingRows rows() const { return {.arm = arm, .revenue = revenue, .cost = cost, .weight = weight}; }

  core::Matrix<float> features;
  std::vector<std::uint8_t> arm;
  std::vector<float> revenue;
  std::vector<float> cost;
  std::vector<float> weight;
  std::vector<std::uint32_t> all;
};

nn::cuda::CardNetworkOptions options_of(const std::string& network, const std::string& method) {
  nn::cuda::CardNetworkOptions options;
  const auto binary = loss::OutcomeKind::binary;
  if (network == "criteo") {
    options.network = {.inputs = 12,
                       .shared = {128},
                       .heads = std::vector<std::size_t>{64},
                       .revenue = {.num_arms = 2, .kind = binary},
                       .cost = {.num_arms = 2, .kind = binary}};
  } else {
    options.network = {.inputs = 107,
                       .shared = {64, 32, 32},
                       .revenue = {.num_arms = 5, .kind = binary},
                       .cost = {.num_arms = 5, .kind = binary}};
  }
  options.prediction = {binary, binary};
  options.decision_options = {.multipliers = {0.1, 0.3, 0.5, 0.8, 1.0, 2.0}, .temperature = 0.1, .window = 0.1};
  if (method == "mer") options.decision = nn::cuda::DecisionKind::policy;
  if (method == "ifd") options.decision = nn::cuda::DecisionKind::ifd;
  return options;
}

// Floating-point operations of a row's training step.
double operations_of(const std::string& network) { return network == "criteo" ? 204'288.0 : 47'744.0; }

void run(const std::string& network, const std::string& method, std::size_t batch, const std::string& precision,
         std::size_t tile_rows, const Data& data, int epochs, bool is_sent = false) {
  nn::cuda::CardNetworkOptions options = options_of(network, method);
  options.batch = batch;
  options.tile_rows = tile_rows;
  if (is_sent) options.most_row_bytes = 0;
  for (const auto named : {core::Precision::tf32, core::Precision::fp32, core::Precision::bf16}) {
    if (core::name_of(named) == precision) options.precision = named;
  }
  nn::OutcomeNetwork<float> model(options.network);
  model.network().initialise(3);
  const auto parameters = model.network().parameters();
  const std::vector<float> zeros(parameters.size(), 0.0f);
  const auto card = nn::cuda::make_card(options, nn::inputs_from<float>(data.features.view()));
  const Clock::time_point load_start = Clock::now();
  core::RunContext context(0);
  card->load(data.rows(), data.all, context);
  const double load_seconds = seconds_since(load_start);
  card->set_state({{parameters.begin(), parameters.end()}, zeros, zeros, 0});
  card->run_epoch(1, 0, context);  // warm
  double best = 1e300;
  double total = 0.0;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const Clock::time_point start = Clock::now();
    card->run_epoch(1, static_cast<std::uint64_t>(epoch), context);
    best = std::min(best, seconds_since(start));
    total += seconds_since(start);
  }
  const double rate = static_cast<double>(data.arm.size()) / best;
  fmt::print(
      R"({{"network": "{}", "method": "{}", "batch": {}, "precision": "{}", "tile_rows": {}, "blocks": {}, )"
      R"("million_rows_per_second": {:.1f}, "tflops": {:.1f}, "epochs": {}, "seconds": {:.3f}, "load_seconds": {:.2f}, "rows_on_card": {}}})"
      "\n",
      network, method, batch, precision, card->use().tile_rows, card->use().num_blocks, rate / 1e6,
      rate * operations_of(network) / 1e12, epochs, total, load_seconds, card->use().rows_on_card);
  std::fflush(stdout);
}

int run_all(int argc, char** argv) {
  if (argc >= 4) {
    const std::string network = argv[1];
    const std::string precision = argc > 4 ? argv[4] : "tf32";
    const std::size_t tile_rows = argc > 5 ? std::strtoull(argv[5], nullptr, 10) : 0;
    const std::size_t rows = argc > 6 ? std::strtoull(argv[6], nullptr, 10) : 2'000'000;
    const Data data(rows, network == "criteo" ? 12 : 107, network == "criteo" ? 2 : 5);
    run(network, argv[2], std::strtoull(argv[3], nullptr, 10), precision, tile_rows, data,
        argc > 7 ? std::atoi(argv[7]) : 3, argc > 8);
    return 0;
  }
  for (const std::string network : {"criteo", "marketing"}) {
    const Data data(network == "criteo" ? 13'980'000 : 2'800'000, network == "criteo" ? 12 : 107,
                    network == "criteo" ? 2 : 5);
    for (const std::string method : {"tsm", "mer"}) {
      for (const std::size_t batch : {8192u, 65'536u, 300'000u}) run(network, method, batch, "tf32", 0, data, 3);
    }
    if (network == "criteo") run(network, "tsm", 300'000, "tf32", 0, data, 40);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_all(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
