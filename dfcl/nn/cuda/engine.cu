// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "dfcl/core/error.h"
#include "dfcl/nn/cuda/card_memory.h"
#include "dfcl/nn/cuda/engine.h"
#include "dfcl/nn/cuda/kernels.h"
#include "dfcl/nn/cuda/packed_weights.h"

namespace dfcl::nn::cuda {
namespace {

constexpr int kTileSizes[] = {64, 128, 32};
// Weights of so many bytes stay in a first-level cache.
constexpr int kFewBytes = 96 << 10;
// One launch makes at most so many steps, so that a run can be cancelled between launches.
constexpr std::uint32_t kMostSteps = 4096;
constexpr std::uint32_t kNeverFailed = std::numeric_limits<std::uint32_t>::max();

[[noreturn]] void refuse(const char* what, core::ErrorKind kind = core::ErrorKind::internal) {
  throw core::Error({.kind = kind, .what = what});
}

// Rows on the card: inputs, then what was observed, a line a row.
struct CardRows {
  CardArray<float> records;
  std::uint32_t count = 0;
};

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
Launch choose_launch(const NetworkPlan& plan, const EngineOptions& options) {
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

}  // namespace

class Engine::Card {
 public:
  explicit Card(const EngineOptions& options) : options_(options), nuisance_(options.needs_nuisance()) {
    require_valid(options.adam);
    if (options.batch == 0) refuse("a batch needs rows", core::ErrorKind::usage);
    require_card();
    plan_ = make_plan(options, nuisance_);
    launch_ = choose_launch(plan_.network, options);
    const auto size = static_cast<std::size_t>(plan_.network.layout_size);
    const auto blocks = static_cast<std::size_t>(launch_.blocks);
    for (auto* array : {&parameters_, &mean_, &mean_square_, &gradient_}) *array = CardArray<float>(size);
    packed_ = CardArray<float>(static_cast<std::size_t>(plan_.network.packed_size));
    partials_ = CardArray<float>(blocks * size);
    for (auto* array : {&parameter_of_, &forward_of_, &backward_of_}) *array = CardArray<std::int32_t>(size);
    parameter_of_.copy_from(plan_.maps.parameter);
    forward_of_.copy_from(plan_.maps.forward);
    backward_of_.copy_from(plan_.maps.backward);
    block_squares_ = CardArray<double>(blocks);
    block_sums_ = CardArray<StepSums>(std::max<std::size_t>(blocks, 4u * num_processors()));
    failed_step_ = CardArray<std::uint32_t>(1);
    steps_ = CardArray<StepNumbers>(kMostSteps);
    step_sums_ = CardArray<StepSums>(kMostSteps);
  }

  CardRows load(core::MatrixView<const float> inputs, const TrainingRows& rows) const {
    const NetworkPlan& network = plan_.network;
    const auto width = static_cast<std::size_t>(network.record_floats);
    const auto num_inputs = static_cast<std::size_t>(network.inputs);
    const auto num_arms = static_cast<std::size_t>(network.loss.num_arms);
    const bool sizes_fit =
        inputs.cols == num_inputs && rows.arm.size() == inputs.rows && rows.revenue.size() == inputs.rows &&
        rows.cost.size() == inputs.rows && rows.weight.size() == inputs.rows &&
        (rows.sample.empty() || rows.sample.size() == inputs.rows) && inputs.rows > 0 && inputs.rows < kNeverFailed;
    if (!sizes_fit) refuse("rows of another size than the inputs");
    if (nuisance_ && (rows.nuisance_revenue.size() != inputs.rows * num_arms ||
                      rows.nuisance_cost.size() != inputs.rows * num_arms)) {
      refuse("the doubly robust form lacks its nuisance predictions");
    }
    CardRows loaded{CardArray<float>(inputs.rows * width), static_cast<std::uint32_t>(inputs.rows)};
    const std::size_t most = std::max<std::size_t>(1, (std::size_t{16} << 20) / width);
    std::vector<float> part(std::min(inputs.rows, most) * width);
    for (std::size_t first = 0; first < inputs.rows; first += most) {
      const std::size_t count = std::min(most, inputs.rows - first);
      for (std::size_t i = 0; i < count; ++i) write_record(inputs, rows, first + i, part.data() + i * width);
      loaded.records.copy_from(std::span(part).first(count * width), first * width);
    }
    return loaded;
  }

  void set_state(const EngineState& state) {
    for (const auto* part : {&state.parameters, &state.mean, &state.mean_square}) {
      if (part->size() != plan_.num_parameters) refuse("a state of another network");
    }
    const std::vector<float> parameters = in_layout(state.parameters);
    parameters_.copy_from(parameters);
    mean_.copy_from(in_layout(state.mean));
    mean_square_.copy_from(in_layout(state.mean_square));
    PackedWeights packed(packed_.size(), options_.precision);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (plan_.maps.parameter[i] < 0) continue;
      const std::int32_t back = plan_.maps.backward[i];
      if (back == -2) {
        packed.set_float(plan_.maps.forward[i], parameters[i]);
      } else {
        packed.set(plan_.maps.forward[i], parameters[i]);
      }
      if (back >= 0) packed.set(back, parameters[i]);
    }
    packed_.copy_from(packed.words());
    step_ = state.step;
  }

  EngineState state() const { return {from_layout(parameters_), from_layout(mean_), from_layout(mean_square_), step_}; }
  std::vector<float> gradient() const { return from_layout(gradient_); }

  EpochResult run_epoch(std::uint32_t num_rows, const std::uint32_t* order, const Shuffle& shuffle) {
    if (training.count == 0) refuse("no rows were loaded");
    Job job = base_job(training);
    job.num_rows = num_rows;
    job.order = order;
    job.shuffle = shuffle;
    job.train = true;
    job.batch = static_cast<std::uint32_t>(std::min<std::size_t>(options_.batch, num_rows));
    const std::uint32_t num_steps = (num_rows + job.batch - 1) / job.batch;
    failed_step_.copy_from(std::span(&kNeverFailed, 1));
    EpochResult result{.steps = num_steps};
    StepSums sums{};
    for (std::uint32_t first = 0; first < num_steps; first += kMostSteps) {
      job.first_step = first;
      job.num_steps = std::min(kMostSteps, num_steps - first);
      steps_.copy_from(steps_of(job.num_steps));
      launch(job);
      std::vector<StepSums> made(job.num_steps);
      step_sums_.copy_to(made);  // waits for the card
      for (const StepSums& step : made) {
        sums.prediction += step.prediction;
        sums.decision += step.decision;
      }
    }
    std::uint32_t failed = 0;
    failed_step_.copy_to(std::span(&failed, 1));
    if (failed != kNeverFailed) result.failed_step = failed;
    result.losses = mean_losses(sums, num_rows);
    return result;
  }

  MeanLosses validate(core::MatrixView<float> revenue, core::MatrixView<float> cost) {
    if (validation.count == 0) refuse("no validation rows were loaded");
    const std::size_t size = std::size_t{validation.count} * static_cast<std::size_t>(plan_.network.loss.num_arms);
    if (revenue.size() != cost.size() || (revenue.size() != 0 && revenue.size() != size)) {
      refuse("predictions of another size than the validation rows");
    }
    CardArray<float> predicted_revenue(revenue.size());
    CardArray<float> predicted_cost(cost.size());
    Job job = base_job(validation);
    job.num_rows = job.batch = validation.count;
    job.num_steps = 1;
    job.in_order = true;
    job.revenue = predicted_revenue.data();
    job.cost = predicted_cost.data();
    const std::uint32_t tiles = (validation.count + launch_.tile_rows - 1) / launch_.tile_rows;
    const int most = blocks_per_processor(plan_.network, launch_.tile_rows, options_.precision) * num_processors();
    const Launch launched{launch_.tile_rows, static_cast<int>(std::min<std::uint32_t>(most, tiles))};
    run(job, launched);
    std::vector<StepSums> blocks(block_sums_.size());
    block_sums_.copy_to(blocks);
    StepSums sums{};
    for (int block = 0; block < launched.blocks; ++block) {
      sums.prediction += blocks[block].prediction;
      sums.decision += blocks[block].decision;
    }
    if (revenue.size() != 0) {
      predicted_revenue.copy_to({revenue.data, revenue.size()});
      predicted_cost.copy_to({cost.data, cost.size()});
    }
    return mean_losses(sums, validation.count);
  }

  const Launch& launch() const { return launch_; }
  void set_adam(const AdamOptions& adam) {
    require_valid(adam);
    options_.adam = adam;
  }

  CardRows training;
  CardRows validation;

 private:
  void write_record(core::MatrixView<const float> inputs, const TrainingRows& rows, std::size_t row, float* to) const {
    const auto width = static_cast<std::size_t>(plan_.network.record_floats);
    std::fill_n(to, width, 0.0f);
    const std::span<const float> from = inputs.row(row);
    PackedWeights::write(from, options_.precision, to);
    to += plan_.network.record_inputs;
    *to++ = rows.revenue[row];
    *to++ = rows.cost[row];
    *to++ = rows.weight[row];
    *to++ = static_cast<float>(rows.arm[row]);
    if (!nuisance_) return;
    to = std::ranges::copy(rows.nuisance_revenue.row(row), to).out;
    to = std::ranges::copy(rows.nuisance_cost.row(row), to).out;
    *to = rows.sample.empty() ? 1.0f : rows.sample[row];
  }

  std::vector<float> in_layout(std::span<const float> values) const {
    std::vector<float> layout(plan_.maps.parameter.size(), 0.0f);
    for (std::size_t i = 0; i < layout.size(); ++i) {
      if (plan_.maps.parameter[i] >= 0) layout[i] = values[static_cast<std::size_t>(plan_.maps.parameter[i])];
    }
    return layout;
  }
  std::vector<float> from_layout(const CardArray<float>& array) const {
    const std::vector<float> layout = array.to_vector();
    std::vector<float> values(plan_.num_parameters);
    for (std::size_t i = 0; i < layout.size(); ++i) {
      if (plan_.maps.parameter[i] >= 0) values[static_cast<std::size_t>(plan_.maps.parameter[i])] = layout[i];
    }
    return values;
  }

  std::vector<StepNumbers> steps_of(std::uint32_t count) {
    std::vector<StepNumbers> numbers;
    for (std::uint32_t i = 0; i < count; ++i) numbers.push_back(step_numbers(options_.adam, step_++));
    return numbers;
  }

  Job base_job(const CardRows& rows) const {
    Job job{};
    job.records = rows.records.data();
    job.steps = steps_.data();
    job.step_sums = step_sums_.data();
    job.beta1 = static_cast<float>(options_.adam.beta1);
    job.beta2 = static_cast<float>(options_.adam.beta2);
    job.epsilon = static_cast<float>(options_.adam.epsilon);
    job.clip_norm = options_.adam.clip_norm;
    job.parameter_of = parameter_of_.data();
    job.forward_of = forward_of_.data();
    job.backward_of = backward_of_.data();
    job.parameters = parameters_.data();
    job.mean = mean_.data();
    job.mean_square = mean_square_.data();
    job.gradient = gradient_.data();
    job.packed = packed_.data();
    job.partials = partials_.data();
    job.block_squares = block_squares_.data();
    job.block_sums = block_sums_.data();
    job.failed_step = failed_step_.data();
    return job;
  }

  void launch(const Job& job) { run(job, launch_); }
  void run(const Job& job, const Launch& launched) {
    check(with_kernel(launched.tile_rows, options_.precision,
                      [&](auto kernel) { return kernel.run(plan_.network, job, launched.blocks, nullptr); }),
          "starting a kernel");
    check(cudaDeviceSynchronize(), "running a kernel");
  }

  MeanLosses mean_losses(const StepSums& sums, std::uint32_t num_rows) const {
    const LossPlan& loss = plan_.network.loss;
    const double rows = num_rows;
    return {sums.prediction / loss.num_arms / rows, sums.decision / std::max(1, loss.num_multipliers) / rows};
  }

  EngineOptions options_;
  bool nuisance_;
  Plan plan_;
  Launch launch_{};
  std::uint64_t step_ = 0;
  CardArray<float> parameters_, mean_, mean_square_, gradient_, packed_, partials_;
  CardArray<std::int32_t> parameter_of_, forward_of_, backward_of_;
  CardArray<double> block_squares_;
  CardArray<StepSums> block_sums_, step_sums_;
  CardArray<StepNumbers> steps_;
  CardArray<std::uint32_t> failed_step_;
};

Engine::Engine(const EngineOptions& options) : card_(std::make_unique<Card>(options)) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

void Engine::load(core::MatrixView<const float> inputs, const TrainingRows& rows) {
  card_->training = {};
  card_->training = card_->load(inputs, rows);
}
void Engine::load_validation(core::MatrixView<const float> inputs, const TrainingRows& rows) {
  card_->validation = {};
  card_->validation = card_->load(inputs, rows);
}
void Engine::set_state(const EngineState& state) { card_->set_state(state); }
void Engine::set_adam(const AdamOptions& adam) { card_->set_adam(adam); }
EngineState Engine::state() const { return card_->state(); }
std::vector<float> Engine::gradient() const { return card_->gradient(); }

EpochResult Engine::run_epoch(std::uint64_t seed, std::uint64_t epoch) {
  const std::uint32_t rows = card_->training.count;
  return card_->run_epoch(rows, nullptr, Shuffle::of(rows, seed, epoch));
}
EpochResult Engine::run_epoch(std::span<const std::uint32_t> order) {
  if (order.empty() || order.size() >= kNeverFailed) refuse("an order without rows");
  for (const std::uint32_t row : order) {
    if (row >= card_->training.count) refuse("an order that names rows which were not loaded");
  }
  CardArray<std::uint32_t> on_card(order.size());
  on_card.copy_from(order);
  return card_->run_epoch(static_cast<std::uint32_t>(order.size()), on_card.data(), {});
}
MeanLosses Engine::validate(core::MatrixView<float> revenue, core::MatrixView<float> cost) {
  return card_->validate(revenue, cost);
}
std::size_t Engine::tile_rows() const { return static_cast<std::size_t>(card_->launch().tile_rows); }
std::size_t Engine::num_blocks() const { return static_cast<std::size_t>(card_->launch().blocks); }

}  // namespace dfcl::nn::cuda
