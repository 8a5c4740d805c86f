// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "dfcl/nn/cuda/card_of.h"

namespace dfcl::nn::cuda {
namespace {

constexpr int kTileSizes[] = {64, 128, 32};
// Weights of so many bytes stay in a first-level cache.
constexpr int kFewBytes = 96 << 10;

struct Launch {
  int tile_rows;
  int blocks;
};

// Calls `body` with the kernel's type.
template <class Body>
auto with_kernel(int tile_rows, Precision precision, Body&& body) {
  return with_precision(precision, [&](auto chosen) {
    constexpr Precision kPrecision = decltype(chosen)::value;
    if (tile_rows == 128) return body(TileKernel<128, kPrecision>());
    if (tile_rows == 64) return body(TileKernel<64, kPrecision>());
    return body(TileKernel<32, kPrecision>());
  });
}

int blocks_per_processor(const NetworkPlan& plan, int tile_rows, Precision precision) {
  return with_kernel(tile_rows, precision, [&](auto kernel) { return kernel.blocks(plan); });
}

// The tile with which the busiest multiprocessor has least to do: large tiles read large weights less often, small ones
// fill the card with small batches, and two blocks of a middle size fill each other's waits.
Launch choose_launch(const NetworkPlan& plan, const CardNetworkOptions& options) {
  const int processors = num_processors();
  Launch best{};
  double least = std::numeric_limits<double>::infinity();
  for (const int rows : kTileSizes) {
    if (options.tile_rows != 0 && options.tile_rows != static_cast<std::size_t>(rows)) continue;
    const int held = blocks_per_processor(plan, rows, options.precision);
    if (held == 0) continue;
    const auto tiles = static_cast<double>((options.batch + rows - 1) / rows);
    const bool few = plan.packed_size * static_cast<int>(sizeof(float)) <= kFewBytes;
    const double work = std::ceil(tiles / processors) * rows * (few ? 1.0 : 1.0 + 24.0 / rows);
    if (work < least) {
      least = work;
      best = {rows, static_cast<int>(std::min<double>(held * processors, tiles))};
    }
  }
  if (best.tile_rows == 0) {
    throw core::Error({.kind = core::ErrorKind::unavailable,
                       .what = "the network is too wide for the memory of the card's multiprocessors",
                       .hint = "train on the processor"});
  }
  return best;
}

// Layers in one kernel, activations on the chip (kernels.cuh).
class PlainNetwork {
 public:
  using Options = CardNetworkOptions;
  using Step = StepNumbers;

  PlainNetwork(const Options& options, const Stream& stream, FillInputs<float> fill)
      : stream_(stream),
        precision_(options.precision),
        nuisance_(options.needs_nuisance()),
        fill_(std::move(fill)),
        plan_(make_plan(options, nuisance_)),
        launch_(choose_launch(plan_.network, options)),
        partials_(stream, static_cast<std::size_t>(launch_.blocks) * num_positions()) {}

  const LayoutMaps& maps() const { return plan_.maps; }
  const LossPlan& losses() const { return plan_.network.loss; }
  std::size_t num_positions() const { return static_cast<std::size_t>(plan_.network.layout_size); }
  std::size_t num_parameters() const { return plan_.num_parameters; }
  std::size_t packed_size() const { return static_cast<std::size_t>(plan_.network.packed_size); }
  std::size_t num_squares() const { return static_cast<std::size_t>(launch_.blocks); }
  std::size_t num_sums() const {
    return std::max(static_cast<std::size_t>(launch_.blocks), 4u * static_cast<std::size_t>(num_processors()));
  }
  std::size_t members() const { return 1; }
  CardUse use() const {
    return {.tile_rows = static_cast<std::size_t>(launch_.tile_rows),
            .num_blocks = static_cast<std::size_t>(launch_.blocks)};
  }

  RowShape row_shape() const {
    return {.record_inputs = static_cast<std::size_t>(plan_.network.record_inputs),
            .record_floats = static_cast<std::size_t>(plan_.network.record_floats),
            .num_arms = static_cast<std::size_t>(losses().num_arms),
            .nuisance = nuisance_};
  }
  void write_inputs(std::span<const std::uint32_t> rows, Lookup*, float* records) const {
    core::Matrix<float> inputs(rows.size(), static_cast<std::size_t>(plan_.network.inputs));
    fill_(rows, inputs.view());
    for (std::size_t i = 0; i < rows.size(); ++i, records += plan_.network.record_floats) {
      PackedWeights::write(std::as_const(inputs).row(i), precision_, records);
    }
  }

  void pack(std::span<const float> layout, PackedWeights& packed) const {
    for (std::size_t i = 0; i < layout.size(); ++i) {
      if (plan_.maps.parameter[i] < 0) continue;
      const std::int32_t back = plan_.maps.backward[i];
      if (back == -2) {
        packed.set_float(plan_.maps.forward[i], layout[i]);
      } else {
        packed.set(plan_.maps.forward[i], layout[i]);
      }
      if (back >= 0) packed.set(back, layout[i]);
    }
  }

  void parameters_are_set(const StepsJob<Step>&) const {}

  Step step(const StepNumbers& numbers, const EpochKey&, std::uint64_t) const { return numbers; }
  void start_steps(const StepsJob<Step>& job, const CardRows&, const RowOrder& order, std::uint32_t first,
                   std::uint32_t count) const {
    run({job, order, first, count, partials_.data()}, launch_);
  }

  void predict(const StepsJob<Step>& job, const CardRows&, std::uint32_t count) const {
    const std::uint32_t tiles = (count + launch_.tile_rows - 1) / launch_.tile_rows;
    const int most = blocks_per_processor(plan_.network, launch_.tile_rows, precision_) * num_processors();
    run({job, {.num_rows = count, .batch = count, .in_order = true}, 0, 1, partials_.data()},
        {launch_.tile_rows, static_cast<int>(std::min<std::uint32_t>(most, tiles))});
  }

 private:
  void run(const Job& job, const Launch& launch) const {
    check(with_kernel(launch.tile_rows, precision_,
                      [&](auto kernel) { return kernel.run(plan_.network, job, launch.blocks, stream_); }),
          "starting a kernel");
  }

  const Stream& stream_;
  Precision precision_;
  bool nuisance_;
  FillInputs<float> fill_;
  Plan plan_;
  Launch launch_;
  CardArray<float> partials_;
};

}  // namespace

std::unique_ptr<TrainingCard> make_card(const CardNetworkOptions& options, FillInputs<float> fill) {
  return std::make_unique<CardOf<PlainNetwork>>(options, std::move(fill));
}

}  // namespace dfcl::nn::cuda
