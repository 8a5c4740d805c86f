// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/cuda/card_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

#include "dfcl/core/error.h"
#include "dfcl/core/field.h"
#include "dfcl/loss/ifd_loss.h"
#include "dfcl/loss/ifd_softmax_loss.h"
#include "dfcl/loss/policy_loss.h"
#include "dfcl/nn/cuda/training_card.h"

namespace dfcl::nn::cuda {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw core::Error({.kind = core::ErrorKind::unavailable,
                     .what = what,
                     .hint = core::field_name("device", "cpu") + " trains on the processor"});
}

template <template <class> class Kernel>
bool take_decision(const loss::Loss<float>& loss, DecisionKind kind, CardLosses& losses) {
  const auto* decision = dynamic_cast<const loss::DecisionLoss<float, Kernel>*>(&loss);
  if (decision == nullptr) return false;
  losses.decision = kind;
  losses.decision_options = decision->options();
  return true;
}

CardLosses card_losses(const learn::Objective& objective) {
  const auto given = objective.losses();
  CardLosses losses;
  const auto* prediction = given.empty() ? nullptr : dynamic_cast<const loss::PredictionLoss<float>*>(given[0].loss);
  if (prediction == nullptr || given.size() > 2 || objective.revenue_form != loss::RevenueForm::outcome)
    refuse("this method does not run on a graphics card");
  losses.prediction = prediction->options();
  losses.prediction_weight = given[0].weight;
  if (given.size() == 1) return losses;
  losses.decision_weight = given[1].weight;
  const loss::Loss<float>& decision = *given[1].loss;
  if (!take_decision<loss::PolicyKernel>(decision, DecisionKind::policy, losses) &&
      !take_decision<loss::IfdKernel>(decision, DecisionKind::ifd, losses) &&
      !take_decision<loss::IfdSoftmaxKernel>(decision, DecisionKind::ifd_softmax, losses))
    refuse("this method's decision loss does not run on a graphics card");
  return losses;
}

// One line, without the advice for those who insist on the card.
void warn_of_host(const core::Error& error, core::RunContext& context) {
  core::ErrorDetails reason = error.details();
  reason.hint.clear();
  context.warn(fmt::format("{}; this fit is trained on the processor", core::to_message(reason)));
}

// The trainer's state to the card and back, and the way to the processor.
class CardEngine final : public nn::Engine {
 public:
  // Makes the card for batches of a size.
  using MakeCard = std::function<std::unique_ptr<TrainingCard>(std::size_t batch)>;

  CardEngine(std::unique_ptr<nn::Engine> host, const learn::TrainingSet& set, const learn::Objective& objective,
             MakeCard make_card)
      : set_(set), objective_(objective), host_(std::move(host)), make_card_(std::move(make_card)) {}

  std::vector<float> initial_parameters(std::uint64_t seed) override { return host_->initial_parameters(seed); }

  EpochLosses run_epoch(const EpochPlan& plan, nn::EngineState& state, core::RunContext& context) override {
    return on_card_or_host(
        context, [&] { return run_on_card(plan, state, context); },
        [&] { return host_->run_epoch(plan, state, context); });
  }

  learn::Predicted predict(std::span<const float> parameters, std::span<const std::uint32_t> rows,
                           core::RunContext& context) override {
    return on_card_or_host(
        context, [&] { return predict_on_card(parameters, rows, context); },
        [&] { return host_->predict(parameters, rows, context); });
  }

 private:
  template <class OnCard, class OnHost>
  auto on_card_or_host(core::RunContext& context, OnCard&& on_card, OnHost&& on_host) -> decltype(on_host()) {
    if (!left_) {
      try {
        return on_card();
      } catch (const core::Error& error) {
        if (error.kind() != core::ErrorKind::unavailable || !context.device.may_fall_back) throw;
        warn_of_host(error, context);
        left_ = true;
        card_.reset();
      }
    }
    return on_host();
  }

  EpochLosses run_on_card(const EpochPlan& plan, nn::EngineState& state, core::RunContext& context) {
    context.check_cancelled();
    require_batch(plan.batch);
    if (!same_rows(training_rows_, plan.rows)) load_training(plan.rows, context);
    card_->set_adam(plan.adam);
    if (!is_on_card(state))
      card_->set_state({state.parameters, state.adam.mean, state.adam.mean_square, state.adam.step});
    on_card_ = {};  // in case that the epoch fails
    const EpochResult result = card_->run_epoch(plan.seed, plan.epoch, context);
    EpochLosses losses;
    losses.means.push_back(result.losses.prediction);
    if (objective_.losses().size() > 1) losses.means.push_back(result.losses.decision);
    losses.failed = result.failed_step.has_value();
    if (losses.failed) {
      losses.norm = std::numeric_limits<double>::quiet_NaN();
      return losses;
    }
    on_card_ = card_->state();
    state.parameters = on_card_.parameters;
    state.adam.mean = on_card_.mean;
    state.adam.mean_square = on_card_.mean_square;
    state.adam.step = on_card_.step;
    return losses;
  }

  learn::Predicted predict_on_card(std::span<const float> parameters, std::span<const std::uint32_t> rows,
                                   core::RunContext& context) {
    learn::Predicted predicted{core::Matrix<float>(context.scratch(), rows.size(), set_.num_arms()),
                               core::Matrix<float>(context.scratch(), rows.size(), set_.num_arms())};
    if (rows.empty()) return predicted;
    context.check_cancelled();
    require_batch(batch_);
    if (!same_rows(predicted_rows_, rows)) {
      predicted_rows_.clear();  // in case that loading fails
      card_->load_validation(data(), rows, context);
      predicted_rows_.assign(rows.begin(), rows.end());
    }
    if (!same_numbers(on_card_.parameters, parameters)) {
      const std::vector<float> zeros(parameters.size(), 0.0f);
      on_card_ = {};
      card_->set_state({{parameters.begin(), parameters.end()}, zeros, zeros, 0});
    }
    card_->predict(predicted.revenue.view(), predicted.cost.view(), context);
    return predicted;
  }

  void require_batch(std::size_t batch) {
    if (card_ && batch_ == batch) return;
    card_.reset();
    training_rows_.clear();
    predicted_rows_.clear();
    on_card_ = {};
    batch_ = batch;
    card_ = make_card_(batch);
  }

  void load_training(std::span<const std::uint32_t> rows, core::RunContext& context) {
    training_rows_.clear();  // in case that loading fails
    card_->load(data(), rows, context);
    training_rows_.assign(rows.begin(), rows.end());
    if (card_->use().rows_on_card || said_) return;
    context.warn("the rows are too large for the memory of the graphics card, to which they are sent as it needs them");
    said_ = true;
  }

  TrainingRows data() const {
    return {set_.arm,           set_.scaled_revenue, set_.scaled_cost, set_.weight, set_.nuisance_revenue,
            set_.nuisance_cost, set_.sample};
  }

  static bool same_rows(const std::vector<std::uint32_t>& loaded, std::span<const std::uint32_t> rows) {
    return !loaded.empty() && std::ranges::equal(loaded, rows);
  }

  // To the bit.
  static bool same_numbers(std::span<const float> a, std::span<const float> b) {
    return !a.empty() && a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
  }
  bool is_on_card(const nn::EngineState& state) const {
    return on_card_.step == state.adam.step && same_numbers(on_card_.parameters, state.parameters) &&
           same_numbers(on_card_.mean, state.adam.mean) && same_numbers(on_card_.mean_square, state.adam.mean_square);
  }

  const learn::TrainingSet& set_;
  const learn::Objective& objective_;
  std::unique_ptr<nn::Engine> host_;
  MakeCard make_card_;
  std::unique_ptr<TrainingCard> card_;
  std::size_t batch_ = CardOptions().batch;
  std::vector<std::uint32_t> training_rows_, predicted_rows_;  // that the card has
  CardState on_card_;                                          // what it ended its last epoch with; or nothing
  bool left_ = false;                                          // the card, for the rest of this fit
  bool said_ = false;
};

// The options of a card for this objective, but for the network.
template <class Options>
Options card_options(const learn::Objective& objective, const core::RunContext& context) {
  Options options;
  static_cast<CardLosses&>(options) = card_losses(objective);
  options.precision = context.device.precision;
  return options;
}

// Made where the context asks for a card; where that fails and may, the processor's. make_card(): a CardEngine's.
template <class MakeCard>
std::unique_ptr<nn::Engine> made_or_host(std::unique_ptr<nn::Engine> host, const learn::TrainingSet& set,
                                         const learn::Objective& objective, core::RunContext& context,
                                         MakeCard&& make_card) {
  if (!context.device.card) return host;
  try {
    require_card();
    CardEngine::MakeCard make = make_card();  // before the host's engine is handed over
    return std::make_unique<CardEngine>(std::move(host), set, objective, std::move(make));
  } catch (const core::Error& error) {
    if (error.kind() != core::ErrorKind::unavailable || !context.device.may_fall_back) throw;
    warn_of_host(error, context);
    return host;
  }
}

}  // namespace

std::unique_ptr<nn::Engine> on_device(std::unique_ptr<nn::Engine> host, const learn::TrainingSet& set,
                                      const learn::Objective& objective, const Preprocessing& preprocessing,
                                      const OutcomeNetworkOptions& network, core::RunContext& context) {
  return made_or_host(std::move(host), set, objective, context, [&]() -> CardEngine::MakeCard {
    auto options = card_options<CardNetworkOptions>(objective, context);
    options.network = network;
    return [options, &set, &preprocessing](std::size_t batch) mutable {
      options.batch = batch;
      return make_card(options, [&](std::span<const std::uint32_t> rows, core::MatrixView<float> inputs) {
        preprocessing.apply(set.features->values.view(), rows, inputs);
      });
    };
  });
}

std::unique_ptr<nn::Engine> on_device(std::unique_ptr<nn::Engine> host, const learn::TrainingSet& set,
                                      const learn::Objective& objective, const TableEncoding& encoding,
                                      const TableOptions& table, double dropout, core::RunContext& context) {
  return made_or_host(std::move(host), set, objective, context, [&]() -> CardEngine::MakeCard {
    auto options = card_options<CardTableOptions>(objective, context);
    options.table = table;
    options.dropout = dropout;
    return [options, &set, &encoding](std::size_t batch) mutable {
      options.batch = batch;
      return make_card(options, encoding, std::as_const(set.features->values).view());
    };
  });
}

}  // namespace dfcl::nn::cuda
