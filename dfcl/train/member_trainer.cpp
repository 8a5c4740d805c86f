// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/member_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/random.h"
#include "dfcl/loss/dpm_loss.h"
#include "dfcl/loss/drm_loss.h"
#include "dfcl/loss/drp_loss.h"
#include "dfcl/loss/ifd_loss.h"
#include "dfcl/loss/ifd_softmax_loss.h"
#include "dfcl/loss/policy_loss.h"
#include "dfcl/loss/prediction_loss.h"
#include "dfcl/train/fd_slopes.h"

namespace dfcl::train {
namespace {

constexpr double kProbabilityWindow = 0.3;
// Outcomes are scaled: a prediction of the mean has a loss of about one for each arm.
constexpr double kMostLoss = 1000.0;

// At most so many of them, spread evenly.
std::vector<std::uint32_t> thinned(std::span<const std::uint32_t> rows, std::size_t most) {
  if (rows.size() <= most) return {rows.begin(), rows.end()};
  std::vector<std::uint32_t> chosen;
  for (std::size_t i = 0; i < most; ++i) chosen.push_back(rows[i * rows.size() / most]);
  return chosen;
}

// The typical distance between the best and the second score, over units and multipliers: what temperatures and windows
// are measured in, so that nothing depends on the currency.
double typical_margin(const core::Matrix<float>& revenue, const core::Matrix<float>& cost,
                      const std::vector<double>& multipliers) {
  std::vector<float> margins;
  for (const double multiplier : multipliers) {
    for (std::size_t row = 0; row < revenue.rows(); ++row) {
      double best = -std::numeric_limits<double>::infinity();
      double second = best;
      for (std::size_t arm = 0; arm < revenue.cols(); ++arm) {
        const double score = static_cast<double>(revenue(row, arm)) - multiplier * static_cast<double>(cost(row, arm));
        if (score > best) {
          second = std::exchange(best, score);
        } else {
          second = std::max(second, score);
        }
      }
      margins.push_back(static_cast<float>(best - second));
    }
  }
  if (margins.empty()) return 1.0;
  const auto middle = margins.begin() + static_cast<std::ptrdiff_t>(margins.size() / 2);
  std::nth_element(margins.begin(), middle, margins.end());
  return std::max(1e-6, static_cast<double>(*middle));
}

}  // namespace

struct MemberTrainer::Losses {
  std::vector<std::unique_ptr<loss::Loss<float>>> owned;
  std::vector<nn::WeightedLoss<float>> weighted;  // prediction first
  void add(std::unique_ptr<loss::Loss<float>> part, double weight) {
    weighted.push_back({part.get(), weight});
    owned.push_back(std::move(part));
  }
};

MemberTrainer::MemberTrainer(const data::Trial& trial, const Preparation& prepared, const Settings& settings,
                             std::size_t member, std::span<const std::uint32_t> rows, core::RunContext& context)
    : trial_(trial),
      prepared_(prepared),
      settings_(settings),
      member_(member),
      rows_(rows),
      price_rows_(thinned(rows_, kPriceUnits)),
      context_(context),
      network_(prepared.network),
      gradient_(network_),
      data_(prepared.training_rows(trial)) {
  network_.network().initialise(core::combine_hashes(settings.seed, member));
  const auto parameters = network_.network().parameters();
  state_.parameters.assign(parameters.begin(), parameters.end());
  state_.adam_mean.assign(parameters.size(), 0.0f);
  state_.adam_mean_square.assign(parameters.size(), 0.0f);
}

MemberTrainer::~MemberTrainer() = default;

void MemberTrainer::set_nuisance(core::MatrixView<const float> revenue, core::MatrixView<const float> cost) {
  data_.nuisance_revenue = revenue;
  data_.nuisance_cost = cost;
}

bool MemberTrainer::decides(std::size_t epoch) const {
  return settings_.method.decides() && epoch >= settings_.warm_epochs;
}

void MemberTrainer::predict(const std::vector<float>& parameters, std::span<const std::uint32_t> rows,
                            core::Matrix<float>& revenue, core::Matrix<float>& cost) {
  nn::OutcomeNetwork<float> network(prepared_.network);
  std::copy(parameters.begin(), parameters.end(), network.network().parameters().begin());
  revenue = core::Matrix<float>(context_.scratch(), rows.size(), network.revenue().num_arms());
  cost = core::Matrix<float>(context_.scratch(), rows.size(), network.cost().num_arms());
  const auto fill = [&](std::size_t first, core::MatrixView<float> inputs) {
    prepared_.preprocessing.apply(trial_.features.values.view(), rows.subspan(first, inputs.rows), inputs);
  };
  nn::predict<float>(context_, network, rows.size(), fill, revenue.view(), cost.view());
}

std::unique_ptr<MemberTrainer::Losses> MemberTrainer::losses_of(bool with_decision) const {
  auto losses = std::make_unique<Losses>();
  const bool scores = settings_.method.learns_efficiencies;
  const loss::PredictionOptions prediction{prepared_.revenue_kind, prepared_.cost_kind, !scores, true};
  losses->add(std::make_unique<loss::PredictionLoss<float>>(prediction), with_decision ? settings_.alpha : 1.0);
  const double cost_scale = prepared_.efficiency_cost_scale;
  switch (settings_.method.loss) {
    case DecisionLoss::drm: losses->add(std::make_unique<loss::DrmLoss<float>>(trial_.arms.size()), 1.0); return losses;
    case DecisionLoss::drp: losses->add(std::make_unique<loss::DrpLoss<float>>(cost_scale), 1.0); return losses;
    case DecisionLoss::dpm: losses->add(std::make_unique<loss::DpmLoss<float>>(cost_scale), 1.0); return losses;
    default: break;
  }
  if (!with_decision) return losses;
  // Steps of the softmax form are differences of probabilities, which have a scale of their own.
  const double window = settings_.method.loss == DecisionLoss::ifd_softmax ? kProbabilityWindow : state_.temperature;
  const loss::DecisionOptions options{.multipliers = state_.multipliers,
                                      .baseline = settings_.baseline,
                                      .temperature = state_.temperature,
                                      .window = window,
                                      .gradient_to_cost = settings_.gradient_to_cost,
                                      .as_published = settings_.as_published};
  if (settings_.method.loss == DecisionLoss::policy)
    losses->add(std::make_unique<loss::PolicyLoss<float>>(options), 1.0);
  if (settings_.method.loss == DecisionLoss::ifd) losses->add(std::make_unique<loss::IfdLoss<float>>(options), 1.0);
  if (settings_.method.loss == DecisionLoss::ifd_softmax)
    losses->add(std::make_unique<loss::IfdSoftmaxLoss<float>>(options), 1.0);
  if (settings_.method.loss == DecisionLoss::fd) losses->add(std::make_unique<loss::GivenSlopesLoss>(fd_slopes_), 1.0);
  return losses;
}

// Found once, from the warm start. Found anew in every epoch they drift: scores of twice the size ask for twice the
// price and decide the same, so nothing holds the size of the scores any more, and the loss is trained for prices that
// no budget has (5.7 became 9.2 within eight epochs on a simulated trial, which ended at 85.7 % of the oracle's
// increment instead of 86.4 %).
void MemberTrainer::find_multipliers() {
  if (!settings_.multipliers.empty()) {
    state_.multipliers.clear();
    for (const double multiplier : settings_.multipliers)
      state_.multipliers.push_back(multiplier * prepared_.multiplier_factor());
    return;
  }
  core::Matrix<float> revenue;
  core::Matrix<float> cost;
  predict(state_.parameters, price_rows_, revenue, cost);
  state_.multipliers = budget_multipliers(revenue.view(), cost.view(), trial_.arms.control, prepared_.scaled_budgets, context_);
}

// The warm start is over: prices, temperature, and the nuisance that epochs are compared by.
void MemberTrainer::start_decisions() {
  state_.warm_parameters = state_.parameters;
  std::fill(state_.adam_mean.begin(), state_.adam_mean.end(), 0.0f);
  std::fill(state_.adam_mean_square.begin(), state_.adam_mean_square.end(), 0.0f);
  state_.adam_step = 0;
  find_multipliers();
  core::Matrix<float> revenue;
  core::Matrix<float> cost;
  predict(state_.warm_parameters, thinned(price_rows_, 20'000), revenue, cost);
  state_.temperature = settings_.temperature;
  if (settings_.relative_temperature) state_.temperature *= typical_margin(revenue, cost, state_.multipliers);
}

// The rate falls to its end in the warm start, and again in the decision epochs.
nn::AdamOptions MemberTrainer::schedule(bool with_decision) const {
  nn::AdamOptions adam = settings_.adam;
  const std::size_t steps = (rows_.size() + settings_.batch - 1) / settings_.batch;
  adam.total_steps = steps * (with_decision ? settings_.epochs - settings_.warm_epochs : settings_.warm_epochs);
  return adam;
}

// FD does not part by rows: its slopes are worked out for the batch as a whole, which is a budget problem of its own.
void MemberTrainer::take_differences(std::span<const std::uint32_t> batch) {
  const std::size_t num_arms = trial_.arms.size();
  if (fd_revenue_.rows() == 0) {
    fd_revenue_ = core::Matrix<float>(trial_.num_units(), num_arms);
    fd_cost_ = core::Matrix<float>(trial_.num_units(), num_arms);
    fd_slopes_ = {std::as_const(fd_revenue_).view(), std::as_const(fd_cost_).view()};
  }
  const std::vector<std::uint32_t> rows(batch.begin(), batch.end());
  const auto parameters = network_.network().parameters();
  core::Matrix<float> revenue;
  core::Matrix<float> cost;
  predict({parameters.begin(), parameters.end()}, rows, revenue, cost);
  const SeenUnits seen = seen_units(trial_, prepared_, rows, context_);
  loss::Rows<float> tile{revenue.view(), cost.view(), seen.arm, seen.revenue, seen.cost, seen.weight};
  core::Matrix<float> nuisance(settings_.baseline == loss::Baseline::doubly_robust ? rows.size() : 0, num_arms);
  for (std::size_t i = 0; i < nuisance.rows(); ++i)
    std::ranges::copy(data_.nuisance_revenue.row(rows[i]), nuisance.row(i).begin());
  tile.nuisance_revenue = std::as_const(nuisance).view();
  const FdSlopes slopes =
      fd_slopes(tile, prepared_.scaled_budgets, settings_.baseline,
                {.step = state_.temperature, .gradient_to_cost = settings_.gradient_to_cost}, context_);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(slopes.revenue.row(i), fd_revenue_.row(rows[i]).begin());
    std::ranges::copy(slopes.cost.row(i), fd_cost_.row(rows[i]).begin());
  }
  fd_slopes_.value = slopes.loss;
}

std::vector<double> MemberTrainer::run_steps(const Losses& losses, bool with_decision) {
  core::Column<std::uint32_t> order(context_.scratch());
  order.append(rows_.begin(), rows_.end());
  core::RandomStream stream(core::combine_hashes(settings_.seed, member_), core::stream_purpose("train.shuffle"),
                            state_.epochs_done);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[stream.below(static_cast<std::uint32_t>(i))]);

  const auto parameters = network_.network().parameters();
  std::copy(state_.parameters.begin(), state_.parameters.end(), parameters.begin());
  nn::AdamState<float> adam(parameters.size());
  adam.mean = std::move(state_.adam_mean);
  adam.mean_square = std::move(state_.adam_mean_square);
  adam.step = state_.adam_step;
  const nn::FillInputs<float> fill = [&](std::span<const std::uint32_t> rows, core::MatrixView<float> inputs) {
    prepared_.preprocessing.apply(trial_.features.values.view(), rows, inputs);
  };
  const nn::BatchOptions options{.received_arm_only = !with_decision && !settings_.method.learns_efficiencies};
  const nn::AdamOptions adam_options = schedule(with_decision);
  std::vector<float> gradient(parameters.size());
  std::vector<double> sums(losses.weighted.size());
  for (std::size_t begin = 0; begin < order.size(); begin += settings_.batch) {
    context_.check_cancelled();
    const std::size_t count = std::min(settings_.batch, order.size() - begin);
    if (with_decision && settings_.method.loss == DecisionLoss::fd)
      take_differences(std::span(order).subspan(begin, count));
    const std::vector<double> means = gradient_.compute(context_, fill, data_, std::span(order).subspan(begin, count),
                                                        losses.weighted, options, gradient);
    const double norm = nn::adam_step<float>(adam_options, adam, gradient, parameters);
    for (std::size_t i = 0; i < means.size(); ++i) sums[i] += means[i] * static_cast<double>(count);
    const bool finite = std::ranges::all_of(means, [](double mean) { return std::isfinite(mean); });
    if (!finite || !std::isfinite(norm)) fail("a loss is no number any more", means, norm);
  }
  state_.parameters.assign(parameters.begin(), parameters.end());
  state_.adam_mean = std::move(adam.mean);
  state_.adam_mean_square = std::move(adam.mean_square);
  state_.adam_step = adam.step;
  for (double& sum : sums) sum /= static_cast<double>(order.size());
  if (sums.front() > kMostLoss * static_cast<double>(trial_.arms.size()))
    fail("the predictions have run away", sums, 0.0);
  return sums;
}

void MemberTrainer::fail(const char* what, const std::vector<double>& losses, double norm) const {
  throw core::Error({.kind = core::ErrorKind::data,
                     .what = fmt::format("training broke down in epoch {}: {}", state_.epochs_done + 1, what),
                     .found = fmt::format("prediction loss {}{}{}", losses.front(),
                                          losses.size() > 1 ? fmt::format(", decision loss {}", losses[1]) : "",
                                          norm == 0.0 ? "" : fmt::format(", length of the gradient {}", norm)),
                     .hint = "lower --lr, or [columns] winsorize a heavy-tailed outcome; no model was written"});
}

// The decision epochs against the warm start, by net value at its prices with it as nuisance (eq. 20): it never saw the
// validation units. The best of many epochs by this figure would mostly be the luckiest, and choosing it cost 6 points
// of the oracle's increment where it was tried; so only a clear loss counts.
void MemberTrainer::judge_decisions(const evaluate::RewardUnits& units, const evaluate::Scores& scores,
                                    EpochRecord& record) {
  const evaluate::Scores warm{warm_revenue_.view(), warm_cost_.view()};
  const evaluate::Estimate value = evaluate::net_value(units, scores, state_.multipliers, context_).mean();
  const evaluate::Estimate gain =
      evaluate::net_value_difference(units, scores, warm, state_.multipliers, context_).mean();
  record.validation_value = value.value * prepared_.revenue_scale.scale;
  // Not before the last epoch: the rate starts high again, and the first epochs look worse than what becomes of them.
  record.went_back = state_.epochs_done + 1 == settings_.epochs && gain.value < -2.0 * gain.standard_error;
}

void MemberTrainer::validate(bool with_decision, EpochRecord& record) {
  const std::span<const std::uint32_t> rows = prepared_.validation_rows;
  if (rows.empty()) return;
  core::Matrix<float> revenue;
  core::Matrix<float> cost;
  predict(state_.parameters, rows, revenue, cost);
  const SeenUnits seen = seen_units(trial_, prepared_, rows, context_);
  core::Matrix<float> ignored_revenue(context_.scratch(), rows.size(), revenue.cols());
  core::Matrix<float> ignored_cost(context_.scratch(), rows.size(), cost.cols());
  std::fill_n(ignored_revenue.data(), rows.size() * revenue.cols(), 0.0f);
  std::fill_n(ignored_cost.data(), rows.size() * cost.cols(), 0.0f);
  const loss::Rows<float> tile{revenue.view(), cost.view(), seen.arm, seen.revenue, seen.cost, seen.weight};
  const auto losses = losses_of(false);
  double total = 0.0;
  for (const nn::WeightedLoss<float>& part : losses->weighted) {
    std::vector<double> totals(part.loss->num_totals());
    part.loss->add_totals(tile, totals);
    total += part.weight * part.loss->add_gradient(tile, totals, 0.0, {ignored_revenue.view(), ignored_cost.view()});
  }
  record.validation_loss = total / static_cast<double>(rows.size());
  if (!with_decision) return;
  if (warm_revenue_.rows() == 0) predict(state_.warm_parameters, rows, warm_revenue_, warm_cost_);
  const evaluate::RewardUnits units{seen.arm,          seen.revenue, seen.cost, seen.weight, warm_revenue_.view(),
                                    warm_cost_.view(), seen.cluster};
  judge_decisions(units, {revenue.view(), cost.view()}, record);
}

void MemberTrainer::run_epoch() {
  const bool with_decision = decides(state_.epochs_done);
  if (with_decision && state_.warm_parameters.empty()) start_decisions();
  EpochRecord record;
  record.member = member_;
  record.epoch = state_.epochs_done + 1;
  record.decides = with_decision;
  const auto losses = losses_of(with_decision);
  const std::vector<double> means = run_steps(*losses, with_decision);
  record.prediction_loss = means.front();
  if (means.size() > 1) record.decision_loss = means[1];
  for (const double multiplier : state_.multipliers)
    record.multipliers.push_back(multiplier / prepared_.multiplier_factor());
  validate(with_decision, record);
  ++state_.epochs_done;
  if (record.went_back) state_.parameters = state_.warm_parameters;
  state_.record.push_back(std::move(record));
}

}  // namespace dfcl::train
