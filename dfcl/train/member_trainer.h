// SPDX-License-Identifier: Apache-2.0
//
// Trains one network, an epoch at a time: first on the prediction loss until it is done, then, for a decision method,
// on both losses with a schedule of their own and the multipliers of the budgets. Where the validation units say
// that the decision epochs lost value, the network goes back to where they began. All that an epoch depends on is in
// MemberState, and random numbers are keyed by (seed, member, epoch), so a run that is resumed from a saved state ends
// with the same bytes. Memory: a few copies of the parameters, predictions for at most kPriceUnits units and
// for the validation units.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/trial.h"
#include "dfcl/evaluate/estimators/net_value.h"
#include "dfcl/loss/given_slopes_loss.h"
#include "dfcl/nn/batch_gradient.h"
#include "dfcl/train/preparation.h"
#include "dfcl/train/settings.h"

namespace dfcl::train {

// Multipliers are found on this many training units at most.
inline constexpr std::size_t kPriceUnits = 100'000;

// One line of the training record.
struct EpochRecord {
  std::size_t member = 0;
  std::size_t epoch = 0;  // from 1
  bool decides = false;   // the decision loss took part
  double prediction_loss = 0.0;
  double decision_loss = 0.0;
  std::optional<double> validation_loss;   // of prediction (of the scores, for efficiencies)
  std::optional<double> validation_value;  // net value at the budgets' prices, in revenue per unit
  bool went_back = false;                  // the decision epochs lost value: the network is that of the warm start
  std::vector<double> multipliers;         // unscaled
};

struct MemberState {
  std::size_t epochs_done = 0;
  std::vector<float> parameters;
  std::vector<float> warm_parameters;  // at the end of the warm start; the nuisance of the validation
  std::vector<float> adam_mean;
  std::vector<float> adam_mean_square;
  std::uint64_t adam_step = 0;
  std::vector<double> multipliers;  // scaled
  double temperature = 0.0;         // scaled, or the window
  std::vector<EpochRecord> record;
};

class MemberTrainer {
 public:
  // Everything must outlive the trainer. rows: the training units of this network, all of them or a fold.
  MemberTrainer(const data::Trial& trial, const Preparation& prepared, const Settings& settings, std::size_t member,
                std::span<const std::uint32_t> rows, core::RunContext& context);
  ~MemberTrainer();

  MemberState& state() { return state_; }
  // Instead of random weights. Before the first epoch.
  void start_from(const std::vector<float>& parameters) { state_.parameters = parameters; }
  // Reward estimates need a nuisance that was not fitted on the row (eq. 5b): units x arms, scaled; all units.
  void set_nuisance(core::MatrixView<const float> revenue, core::MatrixView<const float> cost);

  std::size_t num_units() const { return rows_.size(); }
  bool finished() const { return state_.epochs_done >= settings_.epochs; }
  // Throws Error of kind data where a loss or the gradient is no number any more, or the predictions have run away.
  void run_epoch();

  // Scaled predictions of chosen units by given parameters.
  void predict(const std::vector<float>& parameters, std::span<const std::uint32_t> rows, core::Matrix<float>& revenue,
               core::Matrix<float>& cost);
  const std::vector<float>& result() const { return state_.parameters; }

 private:
  struct Losses;
  bool decides(std::size_t epoch) const;
  void start_decisions();
  void find_multipliers();
  std::unique_ptr<Losses> losses_of(bool with_decision) const;
  std::vector<double> run_steps(const Losses& losses, bool with_decision);
  [[noreturn]] void fail(const char* what, const std::vector<double>& losses, double norm) const;
  void take_differences(std::span<const std::uint32_t> batch);
  nn::AdamOptions schedule(bool with_decision) const;
  void validate(bool with_decision, EpochRecord& record);
  void judge_decisions(const evaluate::RewardUnits& units, const evaluate::Scores& scores, EpochRecord& record);

  const data::Trial& trial_;
  const Preparation& prepared_;
  const Settings& settings_;
  std::size_t member_;
  std::span<const std::uint32_t> rows_;
  std::vector<std::uint32_t> price_rows_;
  core::RunContext& context_;
  nn::OutcomeNetwork<float> network_;
  nn::BatchGradient<float> gradient_;
  nn::TrainingRows data_;
  MemberState state_;
  // Validation units: what was observed, and the warm model's predictions, both scaled.
  core::Matrix<float> warm_revenue_;
  core::Matrix<float> warm_cost_;
  // FD only: slopes of the batch at hand, at the places of its units.
  core::Matrix<float> fd_revenue_;
  core::Matrix<float> fd_cost_;
  loss::GivenSlopes fd_slopes_;
};

}  // namespace dfcl::train
