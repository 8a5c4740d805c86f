// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/network_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/random.h"
#include "dfcl/learn/record_json.h"

namespace dfcl::nn {
namespace {

// Outcomes are scaled: a prediction of the mean has a loss of about one for each arm.
constexpr double kMostLoss = 1000.0;

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

NetworkTrainer::NetworkTrainer(const learn::TrainingSet& set, const learn::Objective& objective,
                               const learn::Stage& stage, const Preprocessing& preprocessing,
                               const OutcomeNetworkOptions& network, const learn::Steps& steps, std::uint64_t seed,
                               core::RunContext& context)
    : set_(set),
      objective_(objective),
      stage_(stage),
      preprocessing_(preprocessing),
      steps_(steps),
      seed_(core::combine_hashes(seed, stage.member)),
      context_(context),
      network_(network),
      gradient_(network_),
      data_{set.arm, set.scaled_revenue, set.scaled_cost, set.weight, set.nuisance_revenue, set.nuisance_cost} {
  network_.network().initialise(seed_);
  const auto parameters = network_.network().parameters();
  state_.parameters.assign(parameters.begin(), parameters.end());
  state_.adam_mean.assign(parameters.size(), 0.0f);
  state_.adam_mean_square.assign(parameters.size(), 0.0f);
}

// Scaled predictions, or scores, by the parameters at hand.
learn::Predicted NetworkTrainer::predict(std::span<const std::uint32_t> rows) {
  OutcomeNetwork<float> network(network_);
  std::copy(state_.parameters.begin(), state_.parameters.end(), network.network().parameters().begin());
  learn::Predicted predicted{core::Matrix<float>(context_.scratch(), rows.size(), network.revenue().num_arms()),
                             core::Matrix<float>(context_.scratch(), rows.size(), network.cost().num_arms())};
  const auto fill = [&](std::size_t first, core::MatrixView<float> inputs) {
    preprocessing_.apply(set_.features->values.view(), rows.subspan(first, inputs.rows), inputs);
  };
  nn::predict<float>(context_, network, rows.size(), fill, predicted.revenue.view(), predicted.cost.view());
  return predicted;
}

std::vector<double> NetworkTrainer::run_steps() {
  core::Column<std::uint32_t> order(context_.scratch());
  order.append(set_.rows.begin(), set_.rows.end());
  core::RandomStream stream(seed_, core::stream_purpose("train.shuffle"), epoch());
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[stream.below(static_cast<std::uint32_t>(i))]);

  const auto parameters = network_.network().parameters();
  std::copy(state_.parameters.begin(), state_.parameters.end(), parameters.begin());
  AdamState<float> adam(parameters.size());
  adam.mean = std::move(state_.adam_mean);
  adam.mean_square = std::move(state_.adam_mean_square);
  adam.step = state_.adam_step;
  const FillInputs<float> fill = [&](std::span<const std::uint32_t> rows, core::MatrixView<float> inputs) {
    preprocessing_.apply(set_.features->values.view(), rows, inputs);
  };
  const BatchOptions options{.received_arm_only = objective_.received_arm_only};
  const AdamOptions schedule = adam_options(steps_, stage_.rate_share, set_.rows.size(), stage_.epochs);
  std::vector<float> gradient(parameters.size());
  std::vector<double> sums(objective_.losses().size());
  for (std::size_t begin = 0; begin < order.size(); begin += steps_.batch) {
    context_.check_cancelled();
    const std::size_t count = std::min(steps_.batch, order.size() - begin);
    const std::vector<double> means = gradient_.compute(context_, fill, data_, std::span(order).subspan(begin, count),
                                                        objective_.losses(), options, gradient);
    const double norm = adam_step<float>(schedule, adam, gradient, parameters);
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

void NetworkTrainer::fail(const char* what, const std::vector<double>& losses, double norm) const {
  throw core::Error({.kind = core::ErrorKind::data,
                     .what = fmt::format("training broke down in epoch {}: {}", epoch() + 1, what),
                     .found = fmt::format("prediction loss {}{}{}", losses.front(),
                                          losses.size() > 1 ? fmt::format(", decision loss {}", losses[1]) : "",
                                          norm == 0.0 ? "" : fmt::format(", length of the gradient {}", norm)),
                     .hint = "lower the learning rate, or [columns] winsorize a heavy-tailed outcome; no model was "
                             "written"});
}

void NetworkTrainer::validate(learn::EpochRecord& record) {
  const std::span<const std::uint32_t> rows = set_.validation_rows;
  if (rows.empty()) return;
  const learn::Predicted predicted = predict(rows);
  const learn::SeenUnits seen = learn::learned_units(set_, rows, context_);
  record.validation_loss = objective_.value(
      {predicted.revenue.view(), predicted.cost.view(), seen.arm, seen.revenue, seen.cost, seen.weight});
  if (stage_.judge) stage_.judge(predicted, state_.epochs_done + 1 == stage_.epochs, record);
}

void NetworkTrainer::run_epoch() {
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
  state_.record.push_back(std::move(record));
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

io::TensorFile state_file(const TrainerState& state) {
  io::TensorFile file;
  put(file, "parameters", state.parameters);
  put(file, "adam_mean", state.adam_mean);
  put(file, "adam_mean_square", state.adam_mean_square);
  const std::string record = learn::record_list(state.record);
  put(file, "record", std::vector<std::uint8_t>(record.begin(), record.end()));
  put(file, "counts",
      std::vector<std::int64_t>{static_cast<std::int64_t>(state.epochs_done),
                                static_cast<std::int64_t>(state.adam_step)});
  return file;
}

TrainerState state_of(const io::TensorFile& file, std::size_t num_parameters, const std::string& where) {
  const auto counts = taken<std::int64_t>(file, "counts");
  if (counts.size() != 2 || counts[0] < 0 || counts[1] < 0)
    throw core::Error({.kind = core::ErrorKind::file, .what = "not a checkpoint", .where = where});
  TrainerState state;
  state.epochs_done = static_cast<std::size_t>(counts[0]);
  state.adam_step = static_cast<std::uint64_t>(counts[1]);
  state.parameters = taken<float>(file, "parameters");
  state.adam_mean = taken<float>(file, "adam_mean");
  state.adam_mean_square = taken<float>(file, "adam_mean_square");
  const auto record = taken<std::uint8_t>(file, "record");
  state.record = learn::parse_record({reinterpret_cast<const char*>(record.data()), record.size()}, where);
  for (const auto* part : {&state.parameters, &state.adam_mean, &state.adam_mean_square}) {
    if (part->size() != num_parameters)
      throw core::Error({.kind = core::ErrorKind::file, .what = "not a checkpoint of this network", .where = where});
  }
  return state;
}

}  // namespace dfcl::nn
