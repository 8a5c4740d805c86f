// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/cuda/card_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "dfcl/core/error.h"
#include "dfcl/core/field.h"
#include "dfcl/core/parallel.h"
#include "dfcl/loss/ifd_loss.h"
#include "dfcl/loss/ifd_softmax_loss.h"
#include "dfcl/loss/policy_loss.h"
#include "dfcl/nn/cuda/card_table.h"

namespace dfcl::nn::cuda {
namespace {

// The trainer's; nn::cuda has one of its own.
using HostState = nn::EngineState;

constexpr std::size_t kChunkRows = 4096;

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

// What both kinds of network share: the trainer's state to the card and back, and the way to the processor.
class CardEngine : public nn::Engine {
 public:
  CardEngine(std::unique_ptr<nn::Engine> host, const learn::TrainingSet& set, const learn::Objective& objective)
      : set_(set), objective_(objective), host_(std::move(host)) {}

  std::vector<float> initial_parameters(std::uint64_t seed) override { return host_->initial_parameters(seed); }

  EpochLosses run_epoch(const EpochPlan& plan, HostState& state, core::RunContext& context) override {
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

 protected:
  // Loads the rows where they are not loaded, and makes what the batch asks for.
  virtual void prepare(const EpochPlan& plan, core::RunContext& context) = 0;
  virtual void prepare_prediction(std::span<const std::uint32_t> rows, core::RunContext& context) = 0;
  virtual void set_card(const AdamOptions* adam, const cuda::EngineState& state) = 0;
  virtual EpochResult epoch_on_card(std::uint64_t seed, std::uint64_t epoch) = 0;
  virtual cuda::EngineState card_state() const = 0;
  virtual void predictions_on_card(core::MatrixView<float> revenue, core::MatrixView<float> cost) = 0;
  virtual std::size_t num_arms() const = 0;

  const learn::TrainingSet& set() const { return set_; }
  const learn::Objective& objective() const { return objective_; }
  TrainingRows data() const {
    return {set_.arm,           set_.scaled_revenue, set_.scaled_cost, set_.weight, set_.nuisance_revenue,
            set_.nuisance_cost, set_.sample};
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
      }
    }
    return on_host();
  }

  EpochLosses run_on_card(const EpochPlan& plan, HostState& state, core::RunContext& context) {
    context.check_cancelled();
    prepare(plan, context);
    set_card(&plan.adam, {state.parameters, state.adam.mean, state.adam.mean_square, state.adam.step});
    const EpochResult result = epoch_on_card(plan.seed, plan.epoch);
    EpochLosses losses;
    losses.means.push_back(result.losses.prediction);
    if (objective_.losses().size() > 1) losses.means.push_back(result.losses.decision);
    losses.failed = result.failed_step.has_value();
    if (losses.failed) {
      losses.norm = std::numeric_limits<double>::quiet_NaN();
      return losses;
    }
    cuda::EngineState after = card_state();
    state.parameters = std::move(after.parameters);
    state.adam.mean = std::move(after.mean);
    state.adam.mean_square = std::move(after.mean_square);
    state.adam.step = after.step;
    return losses;
  }

  learn::Predicted predict_on_card(std::span<const float> parameters, std::span<const std::uint32_t> rows,
                                   core::RunContext& context) {
    learn::Predicted predicted{core::Matrix<float>(context.scratch(), rows.size(), num_arms()),
                               core::Matrix<float>(context.scratch(), rows.size(), num_arms())};
    if (rows.empty()) return predicted;
    context.check_cancelled();
    prepare_prediction(rows, context);
    const std::vector<float> zeros(parameters.size(), 0.0f);
    set_card(nullptr, {{parameters.begin(), parameters.end()}, zeros, zeros, 0});
    predictions_on_card(predicted.revenue.view(), predicted.cost.view());
    return predicted;
  }

  const learn::TrainingSet& set_;
  const learn::Objective& objective_;
  std::unique_ptr<nn::Engine> host_;
  bool left_ = false;  // the card, for the rest of this fit
};

// Whether these rows were loaded before; remembers them.
bool same_rows(std::vector<std::uint32_t>& loaded, std::span<const std::uint32_t> rows) {
  if (!loaded.empty() && std::ranges::equal(loaded, rows)) return true;
  loaded.assign(rows.begin(), rows.end());
  return false;
}

class TableCardEngine final : public CardEngine {
 public:
  TableCardEngine(std::unique_ptr<nn::Engine> host, const learn::TrainingSet& set, const learn::Objective& objective,
                  const TableEncoding& encoding, const TableOptions& options, double dropout,
                  const core::RunContext& context)
      : CardEngine(std::move(host), set, objective), encoding_(encoding) {
    static_cast<CardLosses&>(options_) = card_losses(objective);
    options_.table = options;
    options_.dropout = dropout;
    options_.precision = context.device.precision;
  }

 protected:
  void prepare(const EpochPlan& plan, core::RunContext& context) override {
    make_card(plan.batch);
    if (same_rows(training_rows_, plan.rows)) return;
    training_rows_.clear();  // in case that loading fails
    card_->load(set().features->values.view(), data(), plan.rows, context);
    training_rows_.assign(plan.rows.begin(), plan.rows.end());
  }
  void prepare_prediction(std::span<const std::uint32_t> rows, core::RunContext& context) override {
    make_card(options_.batch);
    if (same_rows(predicted_rows_, rows)) return;
    predicted_rows_.clear();
    card_->load_validation(set().features->values.view(), data(), rows, context);
    predicted_rows_.assign(rows.begin(), rows.end());
  }
  void set_card(const AdamOptions* adam, const cuda::EngineState& state) override {
    if (adam != nullptr) card_->set_adam(*adam);
    card_->set_state(state);
  }
  EpochResult epoch_on_card(std::uint64_t seed, std::uint64_t epoch) override { return card_->run_epoch(seed, epoch); }
  cuda::EngineState card_state() const override { return card_->state(); }
  void predictions_on_card(core::MatrixView<float> revenue, core::MatrixView<float> cost) override {
    card_->predict(revenue, cost);
  }
  std::size_t num_arms() const override { return options_.table.cost.num_arms; }

 private:
  void make_card(std::size_t batch) {
    if (card_ && options_.batch == batch) return;
    card_.reset();
    training_rows_.clear();
    predicted_rows_.clear();
    options_.batch = batch;
    card_.emplace(encoding_, options_);
  }

  const TableEncoding& encoding_;
  CardTableOptions options_;
  std::optional<CardTable> card_;
  std::vector<std::uint32_t> training_rows_, predicted_rows_;
};

class NetworkCardEngine final : public CardEngine {
 public:
  NetworkCardEngine(std::unique_ptr<nn::Engine> host, const learn::TrainingSet& set, const learn::Objective& objective,
                    const Preprocessing& preprocessing, const OutcomeNetworkOptions& options,
                    const core::RunContext& context)
      : CardEngine(std::move(host), set, objective), preprocessing_(preprocessing) {
    static_cast<CardLosses&>(options_) = card_losses(objective);
    options_.network = options;
    options_.precision = context.device.precision;
  }

 protected:
  void prepare(const EpochPlan& plan, core::RunContext& context) override {
    make_card(plan.batch);
    if (same_rows(training_rows_, plan.rows)) return;
    training_rows_.clear();  // in case that loading fails
    load(plan.rows, false, context);
    training_rows_.assign(plan.rows.begin(), plan.rows.end());
  }
  void prepare_prediction(std::span<const std::uint32_t> rows, core::RunContext& context) override {
    make_card(options_.batch);
    if (same_rows(predicted_rows_, rows)) return;
    predicted_rows_.clear();
    load(rows, true, context);
    predicted_rows_.assign(rows.begin(), rows.end());
  }
  void set_card(const AdamOptions* adam, const cuda::EngineState& state) override {
    if (adam != nullptr) card_->set_adam(*adam);
    card_->set_state(state);
  }
  EpochResult epoch_on_card(std::uint64_t seed, std::uint64_t epoch) override { return card_->run_epoch(seed, epoch); }
  cuda::EngineState card_state() const override { return card_->state(); }
  void predictions_on_card(core::MatrixView<float> revenue, core::MatrixView<float> cost) override {
    card_->validate(revenue, cost);
  }
  std::size_t num_arms() const override { return options_.network.cost.num_arms; }

 private:
  void make_card(std::size_t batch) {
    if (card_ && options_.batch == batch) return;
    card_.reset();
    training_rows_.clear();
    predicted_rows_.clear();
    options_.batch = batch;
    card_.emplace(options_);
  }

  // The rows side by side, as the card takes them.
  void load(std::span<const std::uint32_t> rows, bool to_predict, core::RunContext& context) {
    const TrainingRows all = data();
    const std::size_t arms = options_.needs_nuisance() ? num_arms() : 0;
    core::Matrix<float> inputs(context.scratch(), rows.size(), preprocessing_.num_inputs());
    core::Matrix<float> nuisance_revenue(arms == 0 ? 0 : rows.size(), arms),
        nuisance_cost(arms == 0 ? 0 : rows.size(), arms);
    std::vector<std::uint8_t> arm(rows.size());
    std::vector<float> revenue(rows.size()), cost(rows.size()), weight(rows.size());
    std::vector<float> sample(all.sample.empty() ? 0 : rows.size());
    core::for_each_chunk(context, rows.size(), kChunkRows, [&](std::size_t begin, std::size_t end, std::size_t) {
      preprocessing_.apply(set().features->values.view(), rows.subspan(begin, end - begin),
                           inputs.view().slice(begin, end - begin));
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t row = rows[i];
        arm[i] = all.arm[row];
        revenue[i] = all.revenue[row];
        cost[i] = all.cost[row];
        weight[i] = all.weight[row];
        if (!sample.empty()) sample[i] = all.sample[row];
        if (arms == 0 || all.nuisance_revenue.data == nullptr) continue;
        std::ranges::copy(all.nuisance_revenue.row(row), nuisance_revenue.row(i).begin());
        std::ranges::copy(all.nuisance_cost.row(row), nuisance_cost.row(i).begin());
      }
    });
    const TrainingRows loaded{
        arm,   revenue, cost, weight, std::as_const(nuisance_revenue).view(), std::as_const(nuisance_cost).view(),
        sample};
    if (to_predict) {
      card_->load_validation(std::as_const(inputs).view(), loaded);
    } else {
      card_->load(std::as_const(inputs).view(), loaded);
    }
  }

  const Preprocessing& preprocessing_;
  EngineOptions options_;
  std::optional<cuda::Engine> card_;
  std::vector<std::uint32_t> training_rows_, predicted_rows_;
};

// Made where the context asks for a card; where that fails and may, the processor's.
template <class Make>
std::unique_ptr<nn::Engine> made_or_host(std::unique_ptr<nn::Engine> host, core::RunContext& context, Make&& make) {
  if (!context.device.card) return host;
  try {
    require_card();
    return make(host);
  } catch (const core::Error& error) {
    if (error.kind() != core::ErrorKind::unavailable || !context.device.may_fall_back) throw;
    warn_of_host(error, context);
    return host;
  }
}

}  // namespace

std::unique_ptr<nn::Engine> on_device(std::unique_ptr<nn::Engine> host, const learn::TrainingSet& set,
                                      const learn::Objective& objective, const Preprocessing& preprocessing,
                                      const OutcomeNetworkOptions& options, core::RunContext& context) {
  return made_or_host(std::move(host), context, [&](std::unique_ptr<nn::Engine>& from) -> std::unique_ptr<nn::Engine> {
    (void)card_losses(objective);  // before the host's engine is handed over
    return std::make_unique<NetworkCardEngine>(std::move(from), set, objective, preprocessing, options, context);
  });
}

std::unique_ptr<nn::Engine> on_device(std::unique_ptr<nn::Engine> host, const learn::TrainingSet& set,
                                      const learn::Objective& objective, const TableEncoding& encoding,
                                      const TableOptions& options, double dropout, core::RunContext& context) {
  return made_or_host(std::move(host), context, [&](std::unique_ptr<nn::Engine>& from) -> std::unique_ptr<nn::Engine> {
    (void)card_losses(objective);  // before the host's engine is handed over
    return std::make_unique<TableCardEngine>(std::move(from), set, objective, encoding, options, dropout, context);
  });
}

}  // namespace dfcl::nn::cuda
