// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/table/table_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/random.h"
#include "dfcl/learn/record_json.h"
#include "dfcl/nn/table/arm_means.h"

namespace dfcl::nn {
namespace {

// Outcomes are scaled: a prediction of the mean has a loss of about one for each arm.
constexpr double kMostLoss = 1000.0;
// Held out for stopping where the trial has no validation units: one unit in ten, if there are enough.
constexpr std::uint64_t kHeldOut = 10;
constexpr std::size_t kLeastUnits = 500;

AdamOptions adam_options(const learn::Steps& steps, double rate_share, std::size_t num_rows, std::size_t num_epochs) {
  AdamOptions options;
  options.rate = steps.rate * rate_share;
  options.weight_decay = steps.weight_decay;
  options.clip_norm = steps.clip_norm;
  options.warmup_steps = steps.warmup_steps;
  options.final_share = steps.final_share;
  options.total_steps = (num_rows + steps.batch - 1) / steps.batch * num_epochs;  // the rate falls to its end
  return options;
}

}  // namespace

TableTrainer::TableTrainer(const learn::TrainingSet& set, const learn::Objective& objective, const learn::Stage& stage,
                           const TableEncoding& encoding, const TableOptions& options, const TableTraining& training,
                           const learn::Steps& steps, std::uint64_t seed, core::RunContext& context)
    : set_(set),
      objective_(objective),
      stage_(stage),
      training_(training),
      steps_(steps),
      seed_(core::combine_hashes(seed, stage.member)),
      context_(context),
      network_(encoding, options),
      gradient_(network_),
      runner_(network_),
      data_{set.arm, set.scaled_revenue, set.scaled_cost, set.weight, set.nuisance_revenue, set.nuisance_cost} {
  network_.initialise(seed_);
  start_at_arm_means(set, objective.revenue_form == loss::RevenueForm::outcome, network_);
  const auto parameters = network_.parameters();
  state_.parameters.assign(parameters.begin(), parameters.end());
  state_.adam_mean.assign(parameters.size(), 0.0f);
  state_.adam_mean_square.assign(parameters.size(), 0.0f);
  if (stops() && set.validation_rows.empty() && set.rows.size() >= kLeastUnits) hold_out();
}

// Units that belong together are held out together.
void TableTrainer::hold_out() {
  for (const std::uint32_t row : set_.rows) {
    const std::uint64_t key = set_.cluster.empty() ? row : set_.cluster[row];
    const bool held = core::combine_hashes(key, core::stream_purpose("table stopping")) % kHeldOut == 0;
    (held ? stopping_rows_ : rows_).push_back(row);
  }
  if (!rows_.empty() && !stopping_rows_.empty()) return;
  rows_.clear();
  stopping_rows_.clear();
}

bool TableTrainer::is_done() const {
  if (state_.epochs_done >= stage_.epochs) return true;
  return stops() && state_.best_epoch > 0 && state_.epochs_done - state_.best_epoch >= training_.patience;
}

// Scaled predictions, or scores, by the parameters at hand: means over the members.
learn::Predicted TableTrainer::predict(std::span<const std::uint32_t> rows) {
  std::copy(state_.parameters.begin(), state_.parameters.end(), network_.parameters().begin());
  network_.refresh(context_);
  learn::Predicted predicted{core::Matrix<float>(context_.scratch(), rows.size(), network_.revenue().num_arms()),
                             core::Matrix<float>(context_.scratch(), rows.size(), network_.cost().num_arms())};
  const std::size_t members = network_.members();
  const auto mean = [&](std::size_t first, std::size_t count, core::MatrixView<float> from, core::Matrix<float>& to) {
    const std::size_t size = count * from.cols;
    for (std::size_t i = 0; i < size; ++i) {
      double sum = 0.0;
      for (std::size_t member = 0; member < members; ++member) sum += static_cast<double>(from.data[member * size + i]);
      to.data()[first * from.cols + i] = static_cast<float>(sum / static_cast<double>(members));
    }
  };
  if (!rows.empty())  // no rows would mean all
    runner_.run(context_, network_, set_.tile(rows), [&](std::size_t first, std::size_t count, TableTile<float>& tile) {
      mean(first, count, tile.revenue(), predicted.revenue);
      mean(first, count, tile.cost(), predicted.cost);
    });
  return predicted;
}

std::vector<double> TableTrainer::run_steps() {
  const std::span<const std::uint32_t> rows = rows_.empty() ? set_.rows : std::span<const std::uint32_t>(rows_);
  core::Column<std::uint32_t> order(context_.scratch());
  order.append(rows.begin(), rows.end());
  core::RandomStream stream(seed_, core::stream_purpose("train.shuffle"), epoch());
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[stream.below(static_cast<std::uint32_t>(i))]);

  const auto parameters = network_.parameters();
  std::copy(state_.parameters.begin(), state_.parameters.end(), parameters.begin());
  AdamState<float> adam(0);
  adam.mean = std::move(state_.adam_mean);
  adam.mean_square = std::move(state_.adam_mean_square);
  adam.step = state_.adam_step;
  const AdamOptions schedule = adam_options(steps_, stage_.rate_share, rows.size(), stage_.epochs);
  const std::uint64_t dropout_seed = core::combine_hashes(seed_, core::stream_purpose("table dropout"));
  const std::uint64_t epoch_seed = core::combine_hashes(dropout_seed, epoch());
  std::vector<float> gradient(parameters.size());
  std::vector<double> sums(objective_.losses().size());
  for (std::size_t begin = 0; begin < order.size(); begin += steps_.batch) {
    context_.check_cancelled();
    const std::size_t count = std::min(steps_.batch, order.size() - begin);
    network_.refresh(context_);
    const std::vector<double> means =
        gradient_.compute(context_, set_.features->values.view(), data_, std::span(order).subspan(begin, count),
                          objective_.losses(), {training_.dropout, core::combine_hashes(epoch_seed, begin)}, gradient);
    const double norm = adam_step<float>(context_, schedule, adam, gradient, parameters);
    for (std::size_t i = 0; i < means.size(); ++i) sums[i] += means[i] * static_cast<double>(count);
    const bool finite = std::ranges::all_of(means, [](double mean) { return std::isfinite(mean); });
    if (!finite || !std::isfinite(norm)) fail("a loss became NaN", means, norm);
  }
  state_.parameters.assign(parameters.begin(), parameters.end());
  state_.adam_mean = std::move(adam.mean);
  state_.adam_mean_square = std::move(adam.mean_square);
  state_.adam_step = adam.step;
  for (double& sum : sums) sum /= static_cast<double>(order.size());
  if (sums.front() > kMostLoss * static_cast<double>(set_.num_arms())) fail("the predictions have run away", sums, 0.0);
  return sums;
}

void TableTrainer::fail(const char* what, const std::vector<double>& losses, double norm) const {
  throw core::Error({.kind = core::ErrorKind::data,
                     .what = fmt::format("training broke down in epoch {}: {}", epoch() + 1, what),
                     .found = fmt::format("prediction loss {}{}{}", losses.front(),
                                          losses.size() > 1 ? fmt::format(", decision loss {}", losses[1]) : "",
                                          norm == 0.0 ? "" : fmt::format(", length of the gradient {}", norm)),
                     .hint = "lower the learning rate, or [columns] winsorize a heavy-tailed outcome; no model was "
                             "written"});
}

void TableTrainer::validate(learn::EpochRecord& record) {
  const bool held_out = !stopping_rows_.empty();
  const std::span<const std::uint32_t> rows =
      held_out ? std::span<const std::uint32_t>(stopping_rows_) : set_.validation_rows;
  if (rows.empty()) return;
  const learn::Predicted predicted = predict(rows);
  const learn::SeenUnits seen = learn::learned_units(set_, rows, context_);
  record.validation_loss = objective_.value(
      {predicted.revenue.view(), predicted.cost.view(), seen.arm, seen.revenue, seen.cost, seen.weight});
  if (stage_.judge && !held_out) stage_.judge(predicted, state_.epochs_done + 1 == stage_.epochs, record);
}

void TableTrainer::run_epoch() {
  learn::EpochRecord record;
  record.member = stage_.member;
  record.epoch = epoch() + 1;
  record.decides = objective_.decides;
  const std::vector<double> means = run_steps();
  record.prediction_loss = means.front();
  if (means.size() > 1) record.decision_loss = means[1];
  record.multipliers = objective_.multipliers;
  validate(record);
  ++state_.epochs_done;
  const double loss = record.validation_loss.value_or(std::nan(""));
  if (stops() && std::isfinite(loss) && (state_.best_epoch == 0 || loss < state_.best_loss)) {
    state_.best = state_.parameters;
    state_.best_epoch = state_.epochs_done;
    state_.best_loss = loss;
  }
  state_.record.push_back(std::move(record));
}

std::vector<float> TableTrainer::finish() {
  const std::size_t kept = state_.best_epoch > 0 ? state_.best_epoch : state_.record.size();
  if (kept > 0 && kept <= state_.record.size()) state_.record[kept - 1].kept = true;
  return state_.best_epoch > 0 ? std::move(state_.best) : std::move(state_.parameters);
}

namespace {

template <class T>
void put(io::TensorFile& file, const char* name, const std::vector<T>& values) {
  if (!values.empty()) file.tensors.push_back({name, {values.size()}, values});
}

template <class T>
std::vector<T> taken(const io::TensorFile& file, const char* name) {
  const io::Tensor* tensor = file.find(name);
  const auto* found = tensor == nullptr ? nullptr : std::get_if<std::vector<T>>(&tensor->values);
  return found == nullptr ? std::vector<T>() : *found;
}

}  // namespace

io::TensorFile table_state_file(const TableState& state) {
  io::TensorFile file;
  put(file, "parameters", state.parameters);
  put(file, "adam_mean", state.adam_mean);
  put(file, "adam_mean_square", state.adam_mean_square);
  put(file, "best", state.best);
  const std::string record = learn::record_list(state.record);
  put(file, "record", std::vector<std::uint8_t>(record.begin(), record.end()));
  put(file, "counts",
      std::vector<std::int64_t>{static_cast<std::int64_t>(state.epochs_done),
                                static_cast<std::int64_t>(state.adam_step),
                                static_cast<std::int64_t>(state.best_epoch)});
  put(file, "best_loss", std::vector<double>{state.best_loss});
  return file;
}

TableState table_state_of(const io::TensorFile& file, std::size_t num_parameters, const std::string& where) {
  const auto counts = taken<std::int64_t>(file, "counts");
  const auto loss = taken<double>(file, "best_loss");
  if (counts.size() != 3 || std::ranges::any_of(counts, [](std::int64_t count) { return count < 0; }) ||
      counts[2] > counts[0] || loss.size() != 1)
    throw core::Error({.kind = core::ErrorKind::file, .what = "not a checkpoint", .where = where});
  TableState state;
  state.epochs_done = static_cast<std::size_t>(counts[0]);
  state.adam_step = static_cast<std::uint64_t>(counts[1]);
  state.best_epoch = static_cast<std::size_t>(counts[2]);
  state.best_loss = loss.front();
  state.parameters = taken<float>(file, "parameters");
  state.adam_mean = taken<float>(file, "adam_mean");
  state.adam_mean_square = taken<float>(file, "adam_mean_square");
  state.best = taken<float>(file, "best");
  const auto record = taken<std::uint8_t>(file, "record");
  state.record = learn::parse_record({reinterpret_cast<const char*>(record.data()), record.size()}, where);
  bool fits = state.best.size() == (state.best_epoch > 0 ? num_parameters : 0);
  for (const auto* part : {&state.parameters, &state.adam_mean, &state.adam_mean_square})
    fits = fits && part->size() == num_parameters;
  if (!fits)
    throw core::Error({.kind = core::ErrorKind::file, .what = "not a checkpoint of this network", .where = where});
  return state;
}

}  // namespace dfcl::nn
