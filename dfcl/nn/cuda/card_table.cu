// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <optional>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/random.h"
#include "dfcl/nn/cuda/card_table.h"
#include "dfcl/nn/cuda/card_units.h"
#include "dfcl/nn/cuda/packed_weights.h"
#include "dfcl/nn/cuda/step_graph.h"
#include "dfcl/nn/cuda/table_products.h"
#include "dfcl/nn/table/lookup_layer.h"
#include "dfcl/nn/table/table_gradient.h"

namespace dfcl::nn::cuda {
namespace {

constexpr std::uint32_t kMostSteps = 4096;  // of one launch
constexpr std::uint32_t kNeverFailed = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kPredictUnits = 16'384;  // at a time
constexpr std::uint32_t kMostPadding = 128;      // units that TableJob::padded is beyond the capacity, at most

[[noreturn]] void refuse(const char* what, core::ErrorKind kind = core::ErrorKind::internal) {
  throw core::Error({.kind = kind, .what = what});
}

std::uint32_t padded_units(std::size_t units) {
  return static_cast<std::uint32_t>((units + kTileUnits - 1) / kTileUnits * kTileUnits);
}

}  // namespace

class CardTable::Card {
 public:
  Card(const TableEncoding& encoding, const CardTableOptions& options) : encoding_(encoding), options_(options) {
    set_adam(options.adam);
    if (options.batch == 0) refuse("a batch needs units", core::ErrorKind::usage);
    require_card();
    stream_.emplace();
    products_.emplace(options.precision, stream_->stream);
    plan_ = make_table_plan(options, TableNetwork<float>(encoding, options.table));
    const TablePlan& network = plan_.network;
    processors_ = num_processors();
    const int held = with_precision(options.precision,
                                    [&](auto exact) { return HeadsKernel<decltype(exact)::value>::blocks(network); });
    if (held == 0) {
      refuse("the network has too many outputs for the memory of the card's multiprocessors",
             core::ErrorKind::unavailable);
    }
    most_slots_ = std::max(1, held * processors_ / network.members);
    for (auto* array : {&parameters_, &mean_, &mean_square_, &gradient_}) {
      *array = CardArray<float>(network.num_positions());
    }
    packed_ = CardArray<float>(static_cast<std::size_t>(network.packed_size));
    values_ = numbers_for(static_cast<std::size_t>(kCardWidth) * static_cast<std::size_t>(network.encoded));
    fill(parameter_of_, plan_.maps.parameter);
    fill(forward_of_, plan_.maps.forward);
    fill(backward_of_, plan_.maps.backward);
    fill(columns_, plan_.columns);
    fill(facts_, plan_.facts);
    const auto members = static_cast<std::size_t>(network.members);
    const auto slots = static_cast<std::size_t>(most_slots_);
    head_partials_ = CardArray<float>(slots * members * static_cast<std::size_t>(network.member_size - kScale2));
    first_partials_ = CardArray<float>(static_cast<std::size_t>(2 * processors_) * members * kScale2);
    block_sums_ = CardArray<StepSums>(slots * members);
    block_squares_ = CardArray<double>(static_cast<std::size_t>(reduce_blocks(network)));
    failed_step_ = CardArray<std::uint32_t>(1);
    steps_ = CardArray<TableStep>(kMostSteps);
    step_sums_ = CardArray<StepSums>(kMostSteps);
    state_ = CardArray<TableState>(1);
  }

  CardUnits load(core::MatrixView<const float> features, const TrainingRows& data, std::span<const std::uint32_t> rows,
                 core::RunContext& context) const {
    return load_units(encoding_, plan_.network, options_.needs_nuisance(), features, data, rows, context);
  }

  void set_adam(const AdamOptions& adam) {
    require_valid(adam);
    options_.adam = adam;
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
    for (std::size_t i = 0; i < plan_.maps.parameter.size(); ++i) {
      for (const std::int32_t place : {plan_.maps.forward[i], plan_.maps.backward[i]}) {
        if (place < 0) continue;
        if (place < 2 * kSecondSize) {
          packed.set(place, parameters[i]);
        } else {  // heads: floats that tf32 takes
          packed.set_float(place,
                           options_.precision == Precision::fp32 ? parameters[i] : rounded_to_tf32(parameters[i]));
        }
      }
    }
    packed_.copy_from(packed.words());
    copy_values(state.parameters);
    step_ = state.step;
  }

  EngineState state() const { return {from_layout(parameters_), from_layout(mean_), from_layout(mean_square_), step_}; }
  std::vector<float> gradient() const { return from_layout(gradient_); }

  EpochResult run_epoch(std::uint32_t num_rows, const std::uint32_t* order, const Shuffle& shuffle, std::uint64_t seed,
                        std::uint64_t epoch) {
    if (training.count == 0) refuse("no units were loaded");
    const auto batch = static_cast<std::uint32_t>(std::min<std::size_t>(options_.batch, num_rows));
    const TableJob job = training_job(padded_units(batch));
    graph_.set(job, stream_->stream, [&] { record_step(job); });
    const std::uint32_t num_steps = (num_rows + batch - 1) / batch;
    const std::uint64_t key =
        core::combine_hashes(core::combine_hashes(seed, core::stream_purpose("table dropout")), epoch);
    failed_step_.copy_from(std::span(&kNeverFailed, 1));
    StepSums sums{};
    for (std::uint32_t first = 0; first < num_steps; first += kMostSteps) {
      const std::uint32_t here = std::min(kMostSteps, num_steps - first);
      steps_.copy_from(steps_of(first, here, batch, key));
      set_batch({.first_step = first, .num_rows = num_rows, .batch = batch, .order = order, .shuffle = shuffle});
      for (std::uint32_t i = 0; i < here; ++i) graph_.launch(stream_->stream);
      check(cudaStreamSynchronize(stream_->stream), "running a step");
      std::vector<StepSums> made(here);
      step_sums_.copy_to(made);
      for (const StepSums& step : made) {
        sums.prediction += step.prediction;
        sums.decision += step.decision;
      }
    }
    std::uint32_t failed = 0;
    failed_step_.copy_to(std::span(&failed, 1));
    const LossPlan& loss = plan_.network.loss;
    const double rows = static_cast<double>(num_rows) * plan_.network.members;
    EpochResult result{
        .losses = {sums.prediction / loss.num_arms / rows, sums.decision / std::max(1, loss.num_multipliers) / rows},
        .steps = num_steps};
    if (failed != kNeverFailed) result.failed_step = failed;
    return result;
  }

  void predict(core::MatrixView<float> revenue, core::MatrixView<float> cost) {
    const auto arms = static_cast<std::size_t>(plan_.network.loss.num_arms);
    const std::size_t size = std::size_t{validation.count} * arms;
    if (size == 0 || revenue.size() != size || cost.size() != size)
      refuse("predictions of another size than the units");
    const std::uint32_t batch = std::min(kPredictUnits, validation.count);
    const std::uint32_t capacity = padded_units(batch);
    const std::size_t of_members = capacity * static_cast<std::size_t>(plan_.network.members) * arms;
    CardArray<float> member_revenue(of_members), member_cost(of_members), mean_revenue(size), mean_cost(size);
    TableJob job = base_job(validation, capacity);
    job.member_revenue = member_revenue.data();
    job.member_cost = member_cost.data();
    job.revenue = mean_revenue.data();
    job.cost = mean_cost.data();
    for (std::uint32_t first = 0; first * std::size_t{batch} < validation.count; ++first) {
      set_batch({.first_step = first, .num_rows = validation.count, .batch = batch, .in_order = 1});
      with_precision(options_.precision, [&](auto exact) {
        record_forward<decltype(exact)::value>(job);
        check(TableKernels<decltype(exact)::value>::mean_predictions(plan_.network, job, stream_->stream),
              "starting a kernel");
      });
      check(cudaStreamSynchronize(stream_->stream), "predicting");
    }
    mean_revenue.copy_to({revenue.data, size});
    mean_cost.copy_to({cost.data, size});
  }

  CardUnits training;
  CardUnits validation;

 private:
  template <class T>
  static void fill(CardArray<T>& array, const std::vector<T>& values) {
    array = CardArray<T>(values.size());
    array.copy_from(values);
  }

  // Words for so many numbers of the precision, an even count.
  CardArray<float> numbers_for(std::size_t count) const {
    return CardArray<float>(count / static_cast<std::size_t>(columns_per_word(options_.precision)));
  }

  // Memory for a step of so many units.
  void make_room(std::uint32_t capacity) {
    if (capacity <= capacity_) return;
    capacity_ = 0;
    for (auto* array : {&encoded_, &sums_, &sums_slopes_, &hidden_, &second_}) *array = {};
    const std::size_t size = std::size_t{capacity} * kCardWidth;
    const std::size_t padded = std::size_t{capacity} + kMostPadding;
    encoded_ = numbers_for(padded * static_cast<std::size_t>(plan_.network.encoded));
    sums_ = CardArray<float>(padded * kCardWidth);
    sums_slopes_ = numbers_for(padded * kCardWidth);
    hidden_ = numbers_for(size * options_.table.members);
    second_ = numbers_for(size * options_.table.members);
    capacity_ = capacity;
  }

  void make_partials(int second_splits, int value_splits) {
    const auto size = [](int parts, int rows) { return static_cast<std::size_t>(parts) * rows * kCardWidth; };
    const std::size_t second = size(second_splits, kCardWidth);
    const std::size_t values = size(value_splits, plan_.network.encoded);
    if (second_partials_.size() < second) second_partials_ = CardArray<float>(second);
    if (value_partials_.size() < values) value_partials_ = CardArray<float>(values);
  }

  void set_batch(const TableState& state) {
    state_.copy_from(std::span(&state, 1));
    check(cudaStreamSynchronize(nullptr), "copying to it");  // our stream does not wait for copies by itself
  }

  // Up to the losses.
  template <Precision kPrecision>
  void record_forward(const TableJob& job) {
    const TablePlan& plan = plan_.network;
    const cudaStream_t stream = stream_->stream;
    check(TableKernels<kPrecision>::encode(plan, job, processors_, stream), "starting a kernel");
    products_->first(plan, job);
    check(TableKernels<kPrecision>::first_forward(plan, job, stream), "starting a kernel");
    products_->second(plan, job);
    check(HeadsKernel<kPrecision>::run(plan, job, stream), "starting a kernel");
  }

  void record_step(const TableJob& job) {
    with_precision(options_.precision, [&](auto exact) {
      using Kernels = TableKernels<decltype(exact)::value>;
      const TablePlan& plan = plan_.network;
      const cudaStream_t stream = stream_->stream;
      record_forward<decltype(exact)::value>(job);
      products_->second_gradient(plan, job);
      products_->second_back(plan, job);
      check(Kernels::first_back(plan, job, stream), "starting a kernel");
      products_->value_gradient(plan, job);
      check(Kernels::reduce(plan, job, stream), "starting a kernel");
      check(Kernels::move(plan, job, stream), "starting a kernel");
      check(Kernels::fill_values(plan, job, stream), "starting a kernel");
    });
  }

  std::vector<TableStep> steps_of(std::uint32_t first, std::uint32_t count, std::uint32_t batch, std::uint64_t key) {
    std::vector<TableStep> steps;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t begin = std::uint64_t{first + i} * batch;
      const StepDropout dropout{options_.dropout, core::combine_hashes(key, begin)};
      steps.push_back({step_numbers(options_.adam, step_++), dropout_key(dropout, 1).key, dropout_key(dropout, 2).key});
    }
    return steps;
  }

  // Of the first layer, as products read them: a row for each of its columns.
  void copy_values(std::span<const float> parameters) {
    const auto width = static_cast<std::size_t>(kCardWidth);
    const auto encoded = static_cast<std::size_t>(plan_.network.encoded);
    std::vector<float> values((encoding_.num_values() + 1) * width, 0.0f);
    for (const TableColumn& column : encoding_.columns()) {
      fill_values(encoding_, column, width, parameters.data(), values.data());
    }
    PackedWeights by_column(values_.size(), options_.precision);
    for (std::size_t row = 0; row < encoding_.num_values(); ++row) {
      for (std::size_t j = 0; j < width; ++j) {
        by_column.set(static_cast<std::int32_t>(j * encoded + row), values[row * width + j]);
      }
    }
    values_.copy_from(by_column.words());
  }

  // The first layer lies behind the shared positions as the processor has it.
  std::vector<float> in_layout(std::span<const float> values) const {
    std::vector<float> layout(plan_.network.num_positions(), 0.0f);
    const std::size_t shared = plan_.maps.parameter.size();
    for (std::size_t i = 0; i < shared; ++i) {
      if (plan_.maps.parameter[i] >= 0) layout[i] = values[static_cast<std::size_t>(plan_.maps.parameter[i])];
    }
    std::copy_n(values.begin(), layout.size() - shared, layout.begin() + static_cast<std::ptrdiff_t>(shared));
    return layout;
  }
  std::vector<float> from_layout(const CardArray<float>& array) const {
    const std::vector<float> layout = array.to_vector();
    std::vector<float> values(plan_.num_parameters);
    const std::size_t shared = plan_.maps.parameter.size();
    std::copy(layout.begin() + static_cast<std::ptrdiff_t>(shared), layout.end(), values.begin());
    for (std::size_t i = 0; i < shared; ++i) {
      if (plan_.maps.parameter[i] >= 0) values[static_cast<std::size_t>(plan_.maps.parameter[i])] = layout[i];
    }
    return values;
  }

  TableJob base_job(const CardUnits& units, std::uint32_t capacity) {
    make_room(capacity);
    TableJob job{};
    job.state = state_.data();
    job.lookups = units.lookups.data();
    job.records = units.records.data();
    job.capacity = job.padded = capacity;
    job.head_slots = std::min(most_slots_, static_cast<int>(capacity) / kTileUnits);
    job.columns = columns_.data();
    job.facts = facts_.data();
    job.parameters = parameters_.data();
    job.packed = packed_.data();
    job.values = values_.data();
    job.encoded = encoded_.data();
    job.sums = sums_.data();
    job.sums_slopes = sums_slopes_.data();
    job.hidden = hidden_.data();
    job.second = second_.data();
    job.block_sums = block_sums_.data();
    return job;
  }

  TableJob training_job(std::uint32_t capacity) {
    TableJob job = base_job(training, capacity);
    job.train = true;
    const Dropout dropout = dropout_key({options_.dropout, 0}, 1);
    job.dropped = dropout.dropped;
    job.keep = static_cast<float>(dropout.scale());
    job.steps = steps_.data();
    job.step_sums = step_sums_.data();
    job.beta1 = static_cast<float>(options_.adam.beta1);
    job.beta2 = static_cast<float>(options_.adam.beta2);
    job.epsilon = static_cast<float>(options_.adam.epsilon);
    job.clip_norm = options_.adam.clip_norm;
    job.second_splits = TableProducts::second_splits(plan_.network, capacity);
    job.value_splits = TableProducts::value_splits(plan_.network, capacity, processors_);
    const auto part = static_cast<std::uint32_t>(8 * job.value_splits);  // eight units, so that reads are aligned
    job.padded = (capacity + part - 1) / part * part;
    make_partials(job.second_splits, job.value_splits);
    job.first_slots = std::min(2 * processors_, std::max(1, static_cast<int>(capacity) / 8));
    job.parameter_of = parameter_of_.data();
    job.forward_of = forward_of_.data();
    job.backward_of = backward_of_.data();
    job.mean = mean_.data();
    job.mean_square = mean_square_.data();
    job.gradient = gradient_.data();
    job.second_partials = second_partials_.data();
    job.value_partials = value_partials_.data();
    job.head_partials = head_partials_.data();
    job.first_partials = first_partials_.data();
    job.block_squares = block_squares_.data();
    job.failed_step = failed_step_.data();
    return job;
  }

  const TableEncoding& encoding_;
  CardTableOptions options_;
  TableCardPlan plan_;
  std::optional<Stream> stream_;
  std::optional<TableProducts> products_;
  StepGraph graph_;
  int processors_ = 0;
  int most_slots_ = 0;          // of a member: blocks of `heads` that run at the same time
  std::uint32_t capacity_ = 0;  // units that the memory holds
  std::uint64_t step_ = 0;
  CardArray<float> parameters_, mean_, mean_square_, gradient_, packed_, values_, facts_;
  CardArray<float> encoded_, sums_, sums_slopes_, hidden_, second_;
  CardArray<float> second_partials_, value_partials_, head_partials_, first_partials_;
  CardArray<CardColumn> columns_;
  CardArray<std::int32_t> parameter_of_, forward_of_, backward_of_;
  CardArray<double> block_squares_;
  CardArray<StepSums> block_sums_, step_sums_;
  CardArray<TableStep> steps_;
  CardArray<TableState> state_;
  CardArray<std::uint32_t> failed_step_;
};

CardTable::CardTable(const TableEncoding& encoding, const CardTableOptions& options)
    : card_(std::make_unique<Card>(encoding, options)) {}
CardTable::~CardTable() = default;
CardTable::CardTable(CardTable&&) noexcept = default;
CardTable& CardTable::operator=(CardTable&&) noexcept = default;

void CardTable::load(core::MatrixView<const float> features, const TrainingRows& data,
                     std::span<const std::uint32_t> rows, core::RunContext& context) {
  card_->training = {};
  card_->training = card_->load(features, data, rows, context);
}
void CardTable::load_validation(core::MatrixView<const float> features, const TrainingRows& data,
                                std::span<const std::uint32_t> rows, core::RunContext& context) {
  card_->validation = {};
  card_->validation = card_->load(features, data, rows, context);
}
void CardTable::set_adam(const AdamOptions& adam) { card_->set_adam(adam); }
void CardTable::set_state(const EngineState& state) { card_->set_state(state); }
EngineState CardTable::state() const { return card_->state(); }
std::vector<float> CardTable::gradient() const { return card_->gradient(); }

EpochResult CardTable::run_epoch(std::uint64_t seed, std::uint64_t epoch) {
  const std::uint32_t rows = card_->training.count;
  return card_->run_epoch(rows, nullptr, Shuffle::of(rows, seed, epoch), seed, epoch);
}
EpochResult CardTable::run_epoch(std::span<const std::uint32_t> order, std::uint64_t seed, std::uint64_t epoch) {
  if (order.empty() || order.size() >= kNeverFailed) refuse("an order without rows");
  for (const std::uint32_t row : order) {
    if (row >= card_->training.count) refuse("an order that names rows which were not loaded");
  }
  CardArray<std::uint32_t> on_card(order.size());
  on_card.copy_from(order);
  return card_->run_epoch(static_cast<std::uint32_t>(order.size()), on_card.data(), {}, seed, epoch);
}
void CardTable::predict(core::MatrixView<float> revenue, core::MatrixView<float> cost) {
  card_->predict(revenue, cost);
}

}  // namespace dfcl::nn::cuda
