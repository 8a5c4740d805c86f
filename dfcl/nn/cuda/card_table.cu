// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>

#include "dfcl/core/hash.h"
#include "dfcl/core/random.h"
#include "dfcl/nn/cuda/card_of.h"
#include "dfcl/nn/cuda/step_graph.h"
#include "dfcl/nn/cuda/table_products.h"
#include "dfcl/nn/table/table_gradient.h"

namespace dfcl::nn::cuda {
namespace {

constexpr std::uint32_t kPredictUnits = 16'384;  // at a time
constexpr std::uint32_t kMostPadding = 128;      // units that TableJob::padded is beyond the capacity, at most

std::uint32_t padded_units(std::size_t units) {
  return static_cast<std::uint32_t>((units + kTileUnits - 1) / kTileUnits * kTileUnits);
}

// A graph of kernels and products a step (table_job.h).
class TableCard {
 public:
  using Options = CardTableOptions;
  using Step = TableStep;

  TableCard(const Options& options, const Stream& stream, const TableEncoding& encoding,
            core::MatrixView<const float> features)
      : stream_(stream),
        encoding_(encoding),
        features_(features),
        precision_(options.precision),
        dropout_(options.dropout),
        nuisance_(options.needs_nuisance()),
        plan_(make_table_plan(options, TableNetwork<float>(encoding, options.table))),
        products_(options.precision, stream),
        processors_(num_processors()) {
    const TablePlan& network = plan_.network;
    const int held =
        with_precision(precision_, [&](auto exact) { return HeadsKernel<decltype(exact)::value>::blocks(network); });
    if (held == 0) {
      throw core::Error({.kind = core::ErrorKind::unavailable,
                         .what = "the network has too many outputs for the memory of the card's multiprocessors"});
    }
    most_slots_ = std::max(1, held * processors_ / network.members);
    const auto slots = static_cast<std::size_t>(most_slots_);
    values_ = numbers_for(static_cast<std::size_t>(kCardWidth) * static_cast<std::size_t>(network.encoded));
    columns_ = CardArray<CardColumn>(stream_, plan_.columns);
    facts_ = CardArray<float>(stream_, plan_.facts);
    head_partials_ =
        CardArray<float>(stream_, slots * members() * static_cast<std::size_t>(network.member_size - kScale2));
    first_partials_ = CardArray<float>(stream_, static_cast<std::size_t>(2 * processors_) * members() * kScale2);
    state_ = CardArray<TableState>(stream_, 1);
  }

  const LayoutMaps& maps() const { return plan_.maps; }
  const LossPlan& losses() const { return plan_.network.loss; }
  std::size_t num_positions() const { return plan_.network.num_positions(); }
  std::size_t num_parameters() const { return plan_.num_parameters; }
  std::size_t packed_size() const { return static_cast<std::size_t>(plan_.network.packed_size); }
  std::size_t num_squares() const { return static_cast<std::size_t>(reduce_blocks(plan_.network)); }
  std::size_t num_sums() const { return static_cast<std::size_t>(most_slots_) * members(); }
  std::size_t members() const { return static_cast<std::size_t>(plan_.network.members); }
  CardUse use() const { return {.tile_rows = kTileUnits, .num_blocks = num_sums()}; }

  RowShape row_shape() const {
    return {.lookups = encoding_.num_columns(),
            .record_floats = static_cast<std::size_t>(plan_.network.record_floats),
            .num_arms = static_cast<std::size_t>(losses().num_arms),
            .nuisance = nuisance_};
  }
  void write_inputs(std::span<const std::uint32_t> rows, Lookup* lookups, float*) const {
    for (const std::uint32_t row : rows) {
      encoding_.apply(features_.row(row).data(), lookups);
      lookups += encoding_.num_columns();
    }
  }

  // The members' heads are floats that tf32 takes.
  void pack(std::span<const float> layout, PackedWeights& packed) const {
    for (std::size_t i = 0; i < plan_.maps.parameter.size(); ++i) {
      for (const std::int32_t place : {plan_.maps.forward[i], plan_.maps.backward[i]}) {
        if (place < 0) continue;
        if (place < 2 * kSecondSize) {
          packed.set(place, layout[i]);
        } else {
          packed.set_float(place, precision_ == Precision::fp32 ? layout[i] : rounded_to_tf32(layout[i]));
        }
      }
    }
  }
  // The first layer as products read it: values at the knots.
  void parameters_are_set(const StepsJob<Step>& steps) {
    TableJob job{steps};
    job.state = state_.data();
    job.columns = columns_.data();
    job.facts = facts_.data();
    job.values = values_.data();
    check(with_precision(precision_,
                         [&](auto exact) {
                           return TableKernels<decltype(exact)::value>::fill_values(plan_.network, job, stream_);
                         }),
          "starting a kernel");
  }

  Step step(const StepNumbers& numbers, const EpochKey& key, std::uint64_t begin) const {
    const std::uint64_t seed = core::combine_hashes(key.seed, core::stream_purpose("table dropout"));
    const StepDropout dropout{dropout_, core::combine_hashes(core::combine_hashes(seed, key.epoch), begin)};
    return {numbers, dropout_key(dropout, 1).key, dropout_key(dropout, 2).key};
  }
  void start_steps(const StepsJob<Step>& steps, const CardRows& rows, const RowOrder& order, std::uint32_t first,
                   std::uint32_t count) {
    const TableJob job = training_job(steps, rows, padded_units(order.batch));
    const bool is_second = graphs_[0].is_set() && graphs_[0].job().records != job.records;
    StepGraph& graph = graphs_[is_second ? 1 : 0];
    graph.set(job, stream_, [&] { record_step(job); });
    set_batch({.first_step = first, .rows = order});
    for (std::uint32_t i = 0; i < count; ++i) graph.launch(stream_);
  }

  void predict(const StepsJob<Step>& steps, const CardRows& rows, std::uint32_t count) {
    const std::uint32_t batch = std::min(kPredictUnits, count);
    const std::uint32_t capacity = padded_units(batch);
    const std::size_t size = capacity * members() * static_cast<std::size_t>(losses().num_arms);
    if (member_revenue_.size() < size) {
      member_revenue_ = CardArray<float>(stream_, size);
      member_cost_ = CardArray<float>(stream_, size);
    }
    TableJob job = base_job(steps, rows, capacity);
    job.member_revenue = member_revenue_.data();
    job.member_cost = member_cost_.data();
    for (std::uint32_t first = 0; first * std::size_t{batch} < count; ++first) {
      set_batch({.first_step = first, .rows = {.num_rows = count, .batch = batch, .in_order = true}});
      with_precision(precision_, [&](auto exact) {
        record_forward<decltype(exact)::value>(job);
        check(TableKernels<decltype(exact)::value>::mean_predictions(plan_.network, job, stream_), "starting a kernel");
      });
    }
    stream_.wait("predicting");
  }

 private:
  // Words for so many numbers of the precision, an even count.
  CardArray<float> numbers_for(std::size_t count) const {
    return CardArray<float>(stream_, count / static_cast<std::size_t>(columns_per_word(precision_)));
  }

  // Memory for a step of so many units.
  void make_room(std::uint32_t capacity) {
    if (capacity <= capacity_) return;
    capacity_ = 0;
    for (auto* array : {&encoded_, &sums_, &sums_slopes_, &hidden_, &second_}) *array = {};
    const std::size_t size = std::size_t{capacity} * kCardWidth;
    const std::size_t padded = std::size_t{capacity} + kMostPadding;
    encoded_ = numbers_for(padded * static_cast<std::size_t>(plan_.network.encoded));
    sums_ = CardArray<float>(stream_, padded * kCardWidth);
    sums_slopes_ = numbers_for(padded * kCardWidth);
    hidden_ = numbers_for(size * members());
    second_ = numbers_for(size * members());
    capacity_ = capacity;
  }

  void make_partials(int second_splits, int value_splits) {
    const auto size = [](int parts, int rows) { return static_cast<std::size_t>(parts) * rows * kCardWidth; };
    const std::size_t second = size(second_splits, kCardWidth);
    const std::size_t values = size(value_splits, plan_.network.encoded);
    if (second_partials_.size() < second) second_partials_ = CardArray<float>(stream_, second);
    if (value_partials_.size() < values) value_partials_ = CardArray<float>(stream_, values);
  }

  void set_batch(const TableState& state) { state_.set(std::span(&state, 1)); }

  // Up to the losses.
  template <Precision kPrecision>
  void record_forward(const TableJob& job) {
    const TablePlan& plan = plan_.network;
    const cudaStream_t stream = stream_;
    check(TableKernels<kPrecision>::encode(plan, job, processors_, stream), "starting a kernel");
    products_.first(plan, job);
    check(TableKernels<kPrecision>::first_forward(plan, job, stream), "starting a kernel");
    products_.second(plan, job);
    check(HeadsKernel<kPrecision>::run(plan, job, stream), "starting a kernel");
  }

  void record_step(const TableJob& job) {
    with_precision(precision_, [&](auto exact) {
      using Kernels = TableKernels<decltype(exact)::value>;
      const TablePlan& plan = plan_.network;
      const cudaStream_t stream = stream_;
      record_forward<decltype(exact)::value>(job);
      products_.second_gradient(plan, job);
      products_.second_back(plan, job);
      check(Kernels::first_back(plan, job, stream), "starting a kernel");
      products_.value_gradient(plan, job);
      check(Kernels::reduce(plan, job, stream), "starting a kernel");
      check(Kernels::move(plan, job, stream), "starting a kernel");
      check(Kernels::fill_values(plan, job, stream), "starting a kernel");
    });
  }

  TableJob base_job(const StepsJob<Step>& steps, const CardRows& rows, std::uint32_t capacity) {
    make_room(capacity);
    TableJob job{steps};
    job.state = state_.data();
    job.lookups = rows.lookups();
    job.capacity = job.padded = capacity;
    job.head_slots = std::min(most_slots_, static_cast<int>(capacity) / kTileUnits);
    job.columns = columns_.data();
    job.facts = facts_.data();
    job.values = values_.data();
    job.encoded = encoded_.data();
    job.sums = sums_.data();
    job.sums_slopes = sums_slopes_.data();
    job.hidden = hidden_.data();
    job.second = second_.data();
    return job;
  }

  TableJob training_job(const StepsJob<Step>& steps, const CardRows& rows, std::uint32_t capacity) {
    TableJob job = base_job(steps, rows, capacity);
    const Dropout dropout = dropout_key({dropout_, 0}, 1);
    job.dropped = dropout.dropped;
    job.keep = static_cast<float>(dropout.scale());
    job.second_splits = TableProducts::second_splits(plan_.network, capacity);
    job.value_splits = TableProducts::value_splits(plan_.network, capacity, processors_);
    const auto part = static_cast<std::uint32_t>(8 * job.value_splits);  // eight units, so that reads are aligned
    job.padded = (capacity + part - 1) / part * part;
    make_partials(job.second_splits, job.value_splits);
    job.first_slots = std::min(2 * processors_, std::max(1, static_cast<int>(capacity) / 8));
    job.second_partials = second_partials_.data();
    job.value_partials = value_partials_.data();
    job.head_partials = head_partials_.data();
    job.first_partials = first_partials_.data();
    return job;
  }

  const Stream& stream_;
  const TableEncoding& encoding_;
  core::MatrixView<const float> features_;
  Precision precision_;
  double dropout_;
  bool nuisance_;
  TableCardPlan plan_;
  TableProducts products_;
  StepGraph graphs_[2];  // where rows come in two places by turns, one each
  int processors_ = 0;
  int most_slots_ = 0;          // of a member: blocks of `heads` that run at the same time
  std::uint32_t capacity_ = 0;  // units that the memory holds
  CardArray<float> values_, facts_, encoded_, sums_, sums_slopes_, hidden_, second_;
  CardArray<float> second_partials_, value_partials_, head_partials_, first_partials_;
  CardArray<float> member_revenue_, member_cost_;
  CardArray<CardColumn> columns_;
  CardArray<TableState> state_;
};

}  // namespace

std::unique_ptr<TrainingCard> make_card(const CardTableOptions& options, const TableEncoding& encoding,
                                        core::MatrixView<const float> features) {
  return std::make_unique<CardOf<TableCard>>(options, encoding, features);
}

}  // namespace dfcl::nn::cuda
