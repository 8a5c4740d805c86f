// SPDX-License-Identifier: Apache-2.0
//
// A card for every kind of network: rows, parameters and Adam's moments, the numbers and losses of the steps, orders,
// and what fails. The kind, `Network`, says how a network lies on the card, what its inputs are, and how steps and
// predictions are started (PlainNetwork of card_network.cu, TableCard of card_table.cu).
#pragma once

#include <algorithm>
#include <utility>

#include "dfcl/nn/cuda/card_memory.h"
#include "dfcl/nn/cuda/card_rows.h"
#include "dfcl/nn/cuda/kernels.h"
#include "dfcl/nn/cuda/packed_weights.h"
#include "dfcl/nn/cuda/training_card.h"

namespace dfcl::nn::cuda {

// One launch makes at most so many steps, so that a run can be cancelled between launches.
inline constexpr std::uint32_t kMostSteps = 4096;

// What an epoch's steps have in common.
struct EpochKey {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
};

template <class Network>
class CardOf final : public TrainingCard {
 public:
  using Options = typename Network::Options;
  using Step = typename Network::Step;

  template <class... From>
  explicit CardOf(const Options& options, From&&... from)
      : options_(usable(options)), network_(options_, stream_, std::forward<From>(from)...) {
    const LayoutMaps& maps = network_.maps();
    for (auto* array : {&parameters_, &mean_, &mean_square_, &gradient_}) {
      *array = CardArray<float>(stream_, network_.num_positions());
    }
    packed_ = CardArray<float>(stream_, network_.packed_size());
    parameter_of_ = CardArray<std::int32_t>(stream_, maps.parameter);
    forward_of_ = CardArray<std::int32_t>(stream_, maps.forward);
    backward_of_ = CardArray<std::int32_t>(stream_, maps.backward);
    block_squares_ = CardArray<double>(stream_, network_.num_squares());
    block_sums_ = CardArray<StepSums>(stream_, network_.num_sums());
    failed_step_ = CardArray<std::uint32_t>(stream_, 1);
    steps_ = CardArray<Step>(stream_, kMostSteps);
    step_sums_ = CardArray<StepSums>(stream_, kMostSteps);
  }

  void load(const TrainingRows& data, std::span<const std::uint32_t> rows, core::RunContext& context) override {
    load(training_, data, rows, context);
  }
  void load_validation(const TrainingRows& data, std::span<const std::uint32_t> rows,
                       core::RunContext& context) override {
    load(validation_, data, rows, context);
  }

  void set_adam(const AdamOptions& adam) override {
    require_valid(adam);
    options_.adam = adam;
  }

  void set_state(const CardState& state) override {
    for (const auto* part : {&state.parameters, &state.mean, &state.mean_square}) {
      if (part->size() != network_.num_parameters()) refuse("a state of another network");
    }
    const std::vector<float> parameters = in_layout(state.parameters);
    parameters_.set(parameters);
    mean_.set(in_layout(state.mean));
    mean_square_.set(in_layout(state.mean_square));
    PackedWeights packed(packed_.size(), options_.precision);
    network_.pack(parameters, packed);
    packed_.set(packed.words());
    network_.parameters_are_set(job_of(nullptr));
    step_ = state.step;
  }

  CardState state() const override {
    return {from_layout(parameters_), from_layout(mean_), from_layout(mean_square_), step_};
  }
  std::vector<float> gradient() const override { return from_layout(gradient_); }

  EpochResult run_epoch(std::uint64_t seed, std::uint64_t epoch, core::RunContext& context) override {
    if (training_.count() == 0) refuse("no rows were loaded");
    return run({}, {.num_rows = training_.count(), .shuffle = Shuffle::of(training_.count(), seed, epoch)},
               {seed, epoch}, context);
  }
  EpochResult run_epoch(std::span<const std::uint32_t> order, std::uint64_t seed, std::uint64_t epoch,
                        core::RunContext& context) override {
    if (order.empty() || order.size() >= kNeverFailed) refuse("an order without rows");
    for (const std::uint32_t row : order) {
      if (row >= training_.count()) refuse("an order that names rows which were not loaded");
    }
    return run(order, {.num_rows = static_cast<std::uint32_t>(order.size())}, {seed, epoch}, context);
  }

  void predict(core::MatrixView<float> revenue, core::MatrixView<float> cost, core::RunContext& context) override {
    const auto arms = static_cast<std::size_t>(network_.losses().num_arms);
    const std::size_t size = std::size_t{validation_.count()} * arms;
    if (size == 0 || revenue.size() != size || cost.size() != size) refuse("predictions of another size than the rows");
    const std::uint32_t most = validation_.on_card() ? validation_.count() : validation_.rows_at_a_time(1);
    if (predicted_revenue_.size() != std::min(most, validation_.count()) * arms) {
      predicted_revenue_ = {};
      predicted_cost_ = {};
      predicted_revenue_ = CardArray<float>(stream_, std::min(most, validation_.count()) * arms);
      predicted_cost_ = CardArray<float>(stream_, predicted_revenue_.size());
    }
    CardRows room;
    if (!validation_.on_card()) room = validation_.room_for(stream_, std::min(most, validation_.count()));
    for (std::uint32_t first = 0; first < validation_.count(); first += most) {
      const std::uint32_t count = std::min(most, validation_.count() - first);
      context.check_cancelled();
      if (!validation_.on_card())
        validation_.send(copies_, count, context, room, [first](std::size_t i) { return first + i; });
      const CardRows& rows = validation_.on_card() ? validation_.card_rows() : room;
      StepsJob<Step> job = job_of(rows.records());
      job.revenue = predicted_revenue_.data();
      job.cost = predicted_cost_.data();
      network_.predict(job, rows, count);
      predicted_revenue_.get({revenue.data + first * arms, count * arms});
      predicted_cost_.get({cost.data + first * arms, count * arms});
    }
  }

  CardUse use() const override {
    CardUse use = network_.use();
    use.rows_on_card = training_.on_card();
    return use;
  }

 private:
  [[noreturn]] static void refuse(const char* what, core::ErrorKind kind = core::ErrorKind::internal) {
    throw core::Error({.kind = kind, .what = what});
  }

  static const Options& usable(const Options& options) {
    require_valid(options.adam);
    if (options.batch == 0) refuse("a batch needs rows", core::ErrorKind::usage);
    require_card();
    return options;
  }

  void load(LoadedRows& to, const TrainingRows& data, std::span<const std::uint32_t> rows, core::RunContext& context) {
    to = {};
    pieces_ = {};
    to = LoadedRows(stream_, network_.row_shape(), options_.most_row_bytes, data, rows, context,
                    [this](std::span<const std::uint32_t> piece, Lookup* lookups, float* records) {
                      network_.write_inputs(piece, lookups, records);
                    });
  }

  // Rows of an epoch that are not on the card: those of the next steps go there while it makes the steps before.
  struct Pieces {
    std::uint32_t num_steps = kMostSteps;  // at a time
    std::uint32_t num_rows = 0;            // that there is room for
    CardRows rows[2];
  };
  void make_pieces(const RowOrder& order) {
    if (training_.on_card()) {
      pieces_ = {};
      return;
    }
    const std::uint32_t most = training_.rows_at_a_time(order.batch);
    const std::uint32_t rows = std::min(most, order.num_rows);
    pieces_.num_steps = std::min(kMostSteps, most / order.batch);
    if (pieces_.num_rows == rows) return;
    pieces_.num_rows = rows;
    for (CardRows& own : pieces_.rows) own = training_.room_for(stream_, rows);
  }

  EpochResult run(std::span<const std::uint32_t> named, RowOrder order, const EpochKey& key,
                  core::RunContext& context) {
    order.batch = static_cast<std::uint32_t>(std::min<std::size_t>(options_.batch, order.num_rows));
    const std::uint32_t num_steps = (order.num_rows + order.batch - 1) / order.batch;
    make_pieces(order);
    CardArray<std::uint32_t> on_card;
    if (!named.empty() && training_.on_card()) {
      on_card = CardArray<std::uint32_t>(stream_, named.size());
      on_card.set(named);
      order.order = on_card.data();
    }
    const auto send = [&](std::uint32_t first) {  // the rows of the steps from `first` on
      if (training_.on_card() || first >= num_steps) return;
      context.check_cancelled();
      const std::uint32_t begin = first * order.batch;
      const std::uint32_t count = std::min(pieces_.num_steps * order.batch, order.num_rows - begin);
      training_.send(copies_, count, context, pieces_.rows[first / pieces_.num_steps % 2], [&](std::size_t i) {
        const auto place = static_cast<std::uint32_t>(begin + i);
        return named.empty() ? order.shuffle.row(place) : named[place];
      });
    };
    failed_step_.set(std::span(&kNeverFailed, 1));
    StepSums sums{};
    send(0);
    for (std::uint32_t first = 0; first < num_steps; first += pieces_.num_steps) {
      const std::uint32_t count = std::min(pieces_.num_steps, num_steps - first);
      std::vector<Step> steps;
      for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint64_t begin = std::uint64_t{first + i} * order.batch;
        steps.push_back(network_.step(step_numbers(options_.adam, step_++), key, begin));
      }
      steps_.set(steps);
      const std::size_t slot = first / pieces_.num_steps % 2;
      const CardRows& rows = training_.on_card() ? training_.card_rows() : pieces_.rows[slot];
      StepsJob<Step> job = job_of(rows.records());
      job.train = true;
      RowOrder own = order;
      own.in_order = !training_.on_card();
      own.first_place = own.in_order ? first * order.batch : 0;
      network_.start_steps(job, rows, own, first, count);
      send(first + count);
      std::vector<StepSums> made(count);
      step_sums_.get(made);  // waits for the card
      for (const StepSums& step : made) {
        sums.prediction += step.prediction;
        sums.decision += step.decision;
      }
    }
    std::uint32_t failed = 0;
    failed_step_.get(std::span(&failed, 1));
    const LossPlan& losses = network_.losses();
    const double rows = static_cast<double>(order.num_rows) * static_cast<double>(network_.members());
    EpochResult result{.losses = {sums.prediction / losses.num_arms / rows,
                                  sums.decision / std::max(1, losses.num_multipliers) / rows},
                       .steps = num_steps};
    if (failed != kNeverFailed) result.failed_step = failed;
    return result;
  }

  // Positions of the maps, and behind them parameters in their own order.
  std::vector<float> in_layout(std::span<const float> values) const {
    const std::vector<std::int32_t>& parameter = network_.maps().parameter;
    std::vector<float> layout(network_.num_positions(), 0.0f);
    for (std::size_t i = 0; i < parameter.size(); ++i) {
      if (parameter[i] >= 0) layout[i] = values[static_cast<std::size_t>(parameter[i])];
    }
    std::copy_n(values.begin(), layout.size() - parameter.size(), layout.data() + parameter.size());
    return layout;
  }
  std::vector<float> from_layout(const CardArray<float>& array) const {
    const std::vector<std::int32_t>& parameter = network_.maps().parameter;
    const std::vector<float> layout = array.to_vector();
    std::vector<float> values(network_.num_parameters());
    std::copy(layout.data() + parameter.size(), layout.data() + layout.size(), values.begin());
    for (std::size_t i = 0; i < parameter.size(); ++i) {
      if (parameter[i] >= 0) values[static_cast<std::size_t>(parameter[i])] = layout[i];
    }
    return values;
  }

  StepsJob<Step> job_of(const float* records) const {
    StepsJob<Step> job{};
    job.records = records;
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
    job.block_squares = block_squares_.data();
    job.block_sums = block_sums_.data();
    job.failed_step = failed_step_.data();
    return job;
  }

  Options options_;
  Stream stream_, copies_;  // the second of rows on their way
  Network network_;
  std::uint64_t step_ = 0;
  LoadedRows training_, validation_;
  Pieces pieces_;
  CardArray<float> parameters_, mean_, mean_square_, gradient_, packed_;
  CardArray<float> predicted_revenue_, predicted_cost_;
  CardArray<std::int32_t> parameter_of_, forward_of_, backward_of_;
  CardArray<double> block_squares_;
  CardArray<StepSums> block_sums_, step_sums_;
  CardArray<Step> steps_;
  CardArray<std::uint32_t> failed_step_;
};

}  // namespace dfcl::nn::cuda
