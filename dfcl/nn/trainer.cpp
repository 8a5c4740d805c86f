// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/trainer.h"

#include <fmt/format.h>

#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/random.h"
#include "dfcl/learn/enough.h"

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

Trainer::Trainer(const learn::TrainingSet& set, const learn::Objective& objective, const learn::Stage& stage,
                 std::unique_ptr<Engine> engine, const learn::Steps& steps, std::optional<Stopping> stopping,
                 std::uint64_t seed, core::RunContext& context)
    : set_(set),
      objective_(objective),
      stage_(stage),
      engine_(std::move(engine)),
      steps_(steps),
      stopping_(stopping),
      seed_(core::combine_hashes(seed, stage.member)),
      context_(context) {
  state_.parameters = engine_->initial_parameters(seed_);
  state_.adam = AdamState<float>(state_.parameters.size());
  if (stopping_) state_.best.emplace();
  if (stops() && set.validation_rows.empty() && set.rows.size() >= kLeastUnits) hold_out();
}

// Units that belong together are held out together.
void Trainer::hold_out() {
  for (const std::uint32_t row : set_.rows) {
    const std::uint64_t key = set_.cluster.empty() ? row : set_.cluster[row];
    const bool held = core::combine_hashes(key, core::stream_purpose("table stopping")) % kHeldOut == 0;
    (held ? stopping_rows_ : rows_).push_back(row);
  }
  if (!rows_.empty() && !stopping_rows_.empty()) return;
  rows_.clear();
  stopping_rows_.clear();
}

void Trainer::load() {
  const std::optional<io::TensorFile> kept = stage_.load ? stage_.load() : std::nullopt;
  if (!kept) return;
  TrainerState state = state_of(*kept, state_.parameters.size(), stage_.name);
  if (state.best.has_value() != stopping_.has_value())
    throw core::Error({.kind = core::ErrorKind::file, .what = "not a checkpoint of this fit", .where = stage_.name});
  state_ = std::move(state);
  if (stage_.advanced && state_.epochs_done > 0) stage_.advanced(state_.epochs_done * set_.rows.size());
}

std::vector<float> Trainer::run() {
  load();
  for (bool goes_on = true; goes_on && !is_done();) {
    run_epoch();
    goes_on = learn::wants_more(stage_.on_epoch, state_.record.back());
    if (stage_.save) stage_.save(state_file(state_));
    if (stage_.advanced) stage_.advanced(set_.rows.size());
  }
  if (stage_.advanced && state_.epochs_done < stage_.epochs)
    stage_.advanced((stage_.epochs - state_.epochs_done) * set_.rows.size());  // not needed any more
  return finish();
}

bool Trainer::is_done() const {
  if (state_.epochs_done >= stage_.epochs) return true;
  return stops() && state_.best->epoch > 0 && state_.epochs_done - state_.best->epoch >= stopping_->patience;
}

std::vector<double> Trainer::run_steps() {
  const EpochPlan plan{rows(), steps_.batch, adam_options(steps_, stage_.rate_share, rows().size(), stage_.epochs),
                       seed_, epoch()};
  EpochLosses losses = engine_->run_epoch(plan, state_, context_);
  if (losses.failed) fail("a loss became NaN", losses);
  if (losses.means.front() > kMostLoss * static_cast<double>(set_.num_arms()))
    fail("the predictions have run away", losses);
  return std::move(losses.means);
}

void Trainer::fail(const char* what, const EpochLosses& losses) const {
  throw core::Error(
      {.kind = core::ErrorKind::data,
       .what = fmt::format("training broke down in epoch {}: {}", epoch() + 1, what),
       .found = fmt::format("prediction loss {}{}{}", losses.means.front(),
                            losses.means.size() > 1 ? fmt::format(", decision loss {}", losses.means[1]) : "",
                            losses.norm == 0.0 ? "" : fmt::format(", length of the gradient {}", losses.norm)),
       .hint = "lower the learning rate, or [columns] winsorize a heavy-tailed outcome; no model was "
               "written"});
}

void Trainer::validate(learn::EpochRecord& record) {
  const bool held_out = !stopping_rows_.empty();
  const std::span<const std::uint32_t> rows = held_out ? stopping_rows_ : set_.validation_rows;
  if (rows.empty()) return;
  const learn::Predicted predicted = engine_->predict(state_.parameters, rows, context_);
  const learn::SeenUnits seen = learn::learned_units(set_, rows, context_);
  record.validation_loss = objective_.value(
      {predicted.revenue.view(), predicted.cost.view(), seen.arm, seen.revenue, seen.cost, seen.weight});
  if (stage_.judge && !held_out) stage_.judge(predicted, state_.epochs_done + 1 == stage_.epochs, record);
}

void Trainer::run_epoch() {
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
  if (stops() && std::isfinite(loss) && (state_.best->epoch == 0 || loss < state_.best->loss))
    state_.best = {state_.epochs_done, state_.parameters, loss};
  state_.record.push_back(std::move(record));
}

std::vector<float> Trainer::finish() {
  if (!state_.best) return std::move(state_.parameters);
  const std::size_t best = state_.best->epoch;
  const std::size_t kept = best > 0 ? best : state_.record.size();
  if (kept > 0 && kept <= state_.record.size()) state_.record[kept - 1].kept = true;
  return best > 0 ? std::move(state_.best->parameters) : std::move(state_.parameters);
}

}  // namespace dfcl::nn
