// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/stack_judge.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/core/hash.h"
#include "dfcl/core/parallel.h"
#include "dfcl/data/unit_key.h"
#include "dfcl/learn/known_costs.h"
#include "dfcl/learn/rising.h"
#include "dfcl/train/budget_prices.h"
#include "dfcl/train/seen_outcome.h"
#include "dfcl/train/shrunk.h"
#include "dfcl/train/stack_weights.h"
#include "dfcl/train/stages.h"

namespace dfcl::train {
namespace {

constexpr std::size_t kJudgeChunk = 16'384;
constexpr double kLeastVariance = 0.1;  // of the mean variance: no unit counts ten times as much as a typical one
constexpr std::size_t kDraws = 50;      // of the units, over which weights are averaged (decision 145)

using Vector = std::vector<double>;

learn::Predicted table(std::size_t num_units, std::size_t num_arms, const core::RunContext& context) {
  return {core::Matrix<float>(context.scratch(), num_units, num_arms),
          core::Matrix<float>(context.scratch(), num_units, num_arms)};
}

learn::Outcomes outcomes_of(learn::Predicted& predicted) { return {predicted.revenue.view(), predicted.cost.view()}; }

evaluate::Scores scores_of(const learn::Predicted& predicted) {
  return {predicted.revenue.view(), predicted.cost.view()};
}

core::Matrix<float> thinned_rows(const core::Matrix<float>& all, std::size_t most) {
  const std::size_t count = std::min(all.rows(), most);
  core::Matrix<float> some(count, all.cols());
  for (std::size_t i = 0; i < count; ++i) std::ranges::copy(all.row(i * all.rows() / count), some.row(i).begin());
  return some;
}

// phi = m + 1[t = j] w (y - m), in the place of m.
void correct(const HeldOutcomes& outcomes, std::span<const float> observed, core::Matrix<float>& values,
             core::RunContext& context) {
  core::for_each_chunk(context, values.rows(), kJudgeChunk, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t unit = begin; unit < end; ++unit) {
      float& value = values(unit, outcomes.arm[unit]);
      const auto m = static_cast<double>(value);
      const double weight = static_cast<double>(outcomes.weight[unit]) / outcomes.sample_weight(unit);
      value = static_cast<float>(m + weight * (static_cast<double>(observed[unit]) - m));
    }
  });
}

void make_rising(std::span<double> values) { learn::make_rising(Vector(values.size(), 1.0), values); }

// Effects over control that keep the shape of the outcome over the arms.
Vector shaped(Vector effects, learn::ArmShape shape, std::size_t control) {
  if (shape == learn::ArmShape::plain) return effects;
  if (shape == learn::ArmShape::concave) {  // steps fall: the reverse of a list that rises
    Vector steps;
    for (std::size_t arm = effects.size() - 1; arm > 0; --arm) steps.push_back(effects[arm] - effects[arm - 1]);
    make_rising(steps);
    std::reverse(steps.begin(), steps.end());
    effects[0] = 0.0;
    for (std::size_t arm = 1; arm < effects.size(); ++arm)
      effects[arm] = effects[arm - 1] + std::max(0.0, steps[arm - 1]);
    const double base = effects[control];
    for (double& effect : effects) effect -= base;
    return effects;
  }
  const std::span<double> below = std::span(effects).first(control), above = std::span(effects).subspan(control + 1);
  make_rising(below);
  make_rising(above);
  for (double& effect : below) effect = std::min(0.0, effect);
  for (double& effect : above) effect = std::max(0.0, effect);
  return effects;
}

}  // namespace

HeldOutcomes held_outcomes(const data::Trial& trial, const Preparation& prepared, std::span<const std::uint32_t> rows,
                           const core::RunContext& context) {
  HeldOutcomes held{core::Column<std::uint8_t>(context.scratch()), core::Column<float>(context.scratch()),
                    core::Column<float>(context.scratch()),        core::Column<float>(context.scratch()),
                    core::Column<float>(context.scratch()),        core::Column<std::uint32_t>(context.scratch())};
  const learn::TrainingSet set = prepared.training_set(trial);
  for (const std::uint32_t row : rows) {
    held.arm.push_back(set.arm[row]);
    held.revenue.push_back(set.revenue[row]);
    held.cost.push_back(trial.cost[row]);
    held.learned_cost.push_back(set.cost[row]);
    held.weight.push_back(set.weight[row]);
    if (!set.cluster.empty()) held.cluster.push_back(set.cluster[row]);
    if (!set.sample.empty()) held.sample.push_back(set.sample[row]);
  }
  return held;
}

StackJudge::StackJudge(const data::Trial& trial, const Preparation& prepared, const HeldUnits& units,
                       const HeldOutcomes& outcomes, std::vector<const learn::Predicted*> unseen,
                       core::RunContext& context)
    : trial_(trial),
      prepared_(prepared),
      units_(units),
      outcomes_(outcomes),
      unseen_(std::move(unseen)),
      context_(context) {
  find_nuisance();
  find_scores();
  find_shares();
}

void StackJudge::find_nuisance() {
  const std::size_t num_arms = trial_.arms.size();
  nuisance_ = table(units_.size(), num_arms, context_);
  scores_ = table(units_.size(), num_arms, context_);
  const double share = 1.0 / static_cast<double>(unseen_.size());
  core::for_each_chunk(context_, units_.size(), kJudgeChunk, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin * num_arms; i < end * num_arms; ++i) {
      double revenue = 0.0, cost = 0.0;
      for (const learn::Predicted* member : unseen_) {
        revenue += static_cast<double>(member->revenue.data()[i]);
        cost += static_cast<double>(member->cost.data()[i]);
      }
      nuisance_.revenue.data()[i] = scores_.revenue.data()[i] = static_cast<float>(share * revenue);
      nuisance_.cost.data()[i] = scores_.cost.data()[i] = static_cast<float>(share * cost);
    }
  });
  learn::set_known_costs(prepared_.cost_facts, outcomes_of(nuisance_));
}

// Known costs are linear in what is learned, so that scores of what is learned make scores of costs.
void StackJudge::find_scores() {
  correct(outcomes_, outcomes_.revenue, scores_.revenue, context_);
  correct(outcomes_, outcomes_.learned_cost, scores_.cost, context_);
  find_mean_effects();
  learn::set_known_costs(prepared_.cost_facts, outcomes_of(scores_));
  const core::Matrix<float> revenue = thinned_rows(nuisance_.revenue, kPriceUnits);
  const core::Matrix<float> cost = thinned_rows(nuisance_.cost, kPriceUnits);
  std::vector<float> sample;
  for (std::size_t i = 0; !outcomes_.sample.empty() && i < revenue.rows(); ++i)
    sample.push_back(outcomes_.sample[i * outcomes_.sample.size() / revenue.rows()]);
  multipliers_ =
      budget_multipliers(revenue.view(), cost.view(), trial_.arms.control, prepared_.budgets, context_, sample);
  num_prices_ = static_cast<double>(multipliers_.size());
  for (const double price : multipliers_) {
    price_sum_ += price;
    price_squares_ += price * price;
  }
}

void StackJudge::find_mean_effects() {
  const std::size_t num_arms = trial_.arms.size();
  const std::size_t control = trial_.arms.control;
  const bool learns_cost = prepared_.training_set(trial_).learns_cost;
  // Per fold: the sums over its units of both outcomes' effects, and the number of units.
  const std::size_t width = 2 * num_arms + 1;
  const Vector sums = core::sum_chunks(
      context_, units_.size(), kJudgeChunk, Vector(kFolds * width),
      [&](std::size_t begin, std::size_t end) {
        Vector part(kFolds * width);
        for (std::size_t unit = begin; unit < end; ++unit) {
          double* of_fold = part.data() + units_.fold[unit] * width;
          const double units = outcomes_.sample_weight(unit);
          for (std::size_t arm = 0; arm < num_arms; ++arm) {
            of_fold[arm] += units * (static_cast<double>(scores_.revenue(unit, arm)) -
                                     static_cast<double>(scores_.revenue(unit, control)));
            of_fold[num_arms + arm] += units * (static_cast<double>(scores_.cost(unit, arm)) -
                                                static_cast<double>(scores_.cost(unit, control)));
          }
          of_fold[2 * num_arms] += units;
        }
        return part;
      },
      [](Vector& all, const Vector& part) {
        for (std::size_t i = 0; i < all.size(); ++i) all[i] += part[i];
      });
  const auto without = [&](std::size_t left_out) {
    Vector total(width);
    for (std::size_t fold = 0; fold < kFolds; ++fold) {
      for (std::size_t i = 0; i < width && fold != left_out; ++i) total[i] += sums[fold * width + i];
    }
    learn::MeanEffect mean;
    mean.revenue.form = learn::outcome_form(prepared_.facts.revenue);
    mean.cost.form = learn::outcome_form(prepared_.facts.cost);
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      mean.revenue.effect.push_back(total[arm] / total[2 * num_arms]);
      if (learns_cost) mean.cost.effect.push_back(total[num_arms + arm] / total[2 * num_arms]);
    }
    mean.revenue.effect = shaped(std::move(mean.revenue.effect), prepared_.facts.revenue.arm_shape, control);
    if (learns_cost) mean.cost.effect = shaped(std::move(mean.cost.effect), prepared_.facts.cost.arm_shape, control);
    return mean;
  };
  mean_ = without(kFolds);
  for (std::size_t fold = 0; fold < kFolds; ++fold) mean_without_[fold] = without(fold);
}

// Shares of the arms, and a floor of the variance of a unit's revenue.
void StackJudge::find_shares() {
  share_.assign(trial_.arms.size(), 0.0);
  double total = 0.0, variance = 0.0;
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    share_[outcomes_.arm[unit]] += outcomes_.sample_weight(unit);
    total += outcomes_.sample_weight(unit);
    variance += outcomes_.sample_weight(unit) * variance_at(unit);
  }
  for (double& share : share_) share /= total;
  least_variance_ = variance > 0.0 ? kLeastVariance * variance / total : 1.0;
}

double StackJudge::variance_at(std::size_t unit) const {
  return usual_variance(prepared_.facts.revenue.kind,
                        static_cast<double>(nuisance_.revenue(unit, outcomes_.arm[unit])));
}

// The unit's part of H (stack_weights.h), summed over prices (eq. 21): what it shows beyond the mean over the arms,
// less what each member says of that.
void StackJudge::add_products(std::size_t unit, std::span<double> products) const {
  const std::size_t num_arms = trial_.arms.size();
  const std::size_t control = trial_.arms.control;
  const std::size_t received = outcomes_.arm[unit];
  const std::size_t count = unseen_.size() + 1;
  const data::CostFacts& facts = prepared_.cost_facts;
  const learn::MeanEffect& mean = mean_without_[units_.fold[unit]];
  const auto cost_of = [&](std::size_t arm, double revenue, double cost) {
    return learn::known_cost(facts, arm, revenue, cost);
  };
  const auto observed = static_cast<double>(outcomes_.revenue[unit]);
  double shown_revenue = observed;
  double shown_cost = cost_of(received, observed, static_cast<double>(outcomes_.learned_cost[unit]));
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    shown_revenue -= share_[arm] * static_cast<double>(nuisance_.revenue(unit, arm));
    shown_cost -= share_[arm] * static_cast<double>(nuisance_.cost(unit, arm));
  }
  double revenue[kMostStackMembers], cost[kMostStackMembers];
  std::fill_n(revenue, count, shown_revenue);
  std::fill_n(cost, count, shown_cost);
  double base_revenue = 0.0, base_cost = 0.0;  // control by the mean of the members, on which the mean effect stands
  for (const learn::Predicted* member : unseen_) {
    base_revenue += static_cast<double>(member->revenue(unit, control)) / static_cast<double>(unseen_.size());
    base_cost += static_cast<double>(member->cost(unit, control)) / static_cast<double>(unseen_.size());
  }
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    const double part = (arm == received ? 1.0 : 0.0) - share_[arm];
    for (std::size_t m = 0; m + 1 < count; ++m) {
      const auto own = static_cast<double>(unseen_[m]->revenue(unit, arm));
      revenue[m] -= part * own;
      cost[m] -= part * cost_of(arm, own, static_cast<double>(unseen_[m]->cost(unit, arm)));
    }
    const double with_effect = base_revenue + mean.revenue.effect[arm];
    revenue[count - 1] -= part * with_effect;
    cost[count - 1] -=
        part * cost_of(arm, with_effect, base_cost + (mean.cost.effect.empty() ? 0.0 : mean.cost.effect[arm]));
  }
  // Weighted so, every unit is as likely to be in an arm as the arm's share, and tells as much as its outcome is sure.
  const double weight =
      static_cast<double>(outcomes_.weight[unit]) * share_[received] / std::max(least_variance_, variance_at(unit));
  for (std::size_t m = 0; m < count; ++m) {
    for (std::size_t n = 0; n < count; ++n) {
      products[m * count + n] +=
          weight * (num_prices_ * revenue[m] * revenue[n] - price_sum_ * (revenue[m] * cost[n] + cost[m] * revenue[n]) +
                    price_squares_ * cost[m] * cost[n]);
    }
  }
}

// H of each draw of the Bayesian bootstrap: the units, or clusters, count by exponential weights.
std::vector<Vector> StackJudge::drawn_products() {
  const std::size_t size = num_members() * num_members();
  const std::uint64_t key = core::hash_text("stack draws");
  Vector sums = core::sum_chunks(
      context_, units_.size(), kJudgeChunk, Vector(kDraws * size),
      [&](std::size_t begin, std::size_t end) {
        Vector part(kDraws * size), own(size);
        for (std::size_t unit = begin; unit < end; ++unit) {
          std::fill(own.begin(), own.end(), 0.0);
          add_products(unit, own);
          const std::uint64_t stream = core::combine_hashes(key, data::group_key(trial_, units_.rows[unit]));
          for (std::size_t draw = 0; draw < kDraws; ++draw) {
            const double weight = -std::log1p(-core::hash_fraction(core::combine_hashes(stream, draw)));
            for (std::size_t i = 0; i < size; ++i) part[draw * size + i] += weight * own[i];
          }
        }
        return part;
      },
      [](Vector& all, const Vector& part) {
        for (std::size_t i = 0; i < all.size(); ++i) all[i] += part[i];
      });
  std::vector<Vector> products;
  for (std::size_t draw = 0; draw < kDraws; ++draw)
    products.emplace_back(sums.begin() + static_cast<std::ptrdiff_t>(draw * size),
                          sums.begin() + static_cast<std::ptrdiff_t>((draw + 1) * size));
  return products;
}

evaluate::Estimate StackJudge::risk_difference(std::span<const double> a, std::span<const double> b) {
  const std::size_t size = num_members() * num_members();
  Vector differences(units_.size());
  core::for_each_chunk(context_, units_.size(), kJudgeChunk, [&](std::size_t begin, std::size_t end, std::size_t) {
    Vector products(size);
    for (std::size_t unit = begin; unit < end; ++unit) {
      std::fill(products.begin(), products.end(), 0.0);
      add_products(unit, products);
      differences[unit] = stack_risk(products, a) - stack_risk(products, b);
    }
  });
  evaluate::ValueSums sums;
  if (outcomes_.cluster.empty()) {
    for (std::size_t unit = 0; unit < differences.size(); ++unit)
      sums.add_group(differences[unit], outcomes_.sample_weight(unit));
    return sums.mean();
  }
  std::vector<std::pair<double, double>> groups(trial_.num_clusters);
  for (std::size_t unit = 0; unit < differences.size(); ++unit) {
    groups[outcomes_.cluster[unit]].first += differences[unit];
    groups[outcomes_.cluster[unit]].second += outcomes_.sample_weight(unit);
  }
  for (const auto& [sum, count] : groups) {
    if (count > 0.0) sums.add_group(sum, count);
  }
  return sums.mean();
}

learn::Predicted StackJudge::mixture(const std::vector<const learn::Predicted*>& members,
                                     std::span<const double> weights) {
  const std::size_t num_arms = trial_.arms.size();
  const std::size_t fitted = members.size();
  Vector shares(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(fitted));
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (!(total > 0.0)) shares.front() = 1.0;
  for (double& share : shares) share /= total > 0.0 ? total : 1.0;
  learn::Predicted mixed = table(units_.size(), num_arms, context_);
  core::for_each_chunk(context_, units_.size(), kJudgeChunk, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin * num_arms; i < end * num_arms; ++i) {
      double revenue = 0.0, cost = 0.0;
      for (std::size_t m = 0; m < fitted; ++m) {
        revenue += shares[m] * static_cast<double>(members[m]->revenue.data()[i]);
        cost += shares[m] * static_cast<double>(members[m]->cost.data()[i]);
      }
      mixed.revenue.data()[i] = static_cast<float>(revenue);
      mixed.cost.data()[i] = static_cast<float>(cost);
    }
    if (weights[fitted] == 0.0) return;
    std::array<learn::MeanEffect, kFolds> means = mean_without_;
    for (learn::MeanEffect& mean : means) mean.weight = weights[fitted];
    for (std::size_t unit = begin; unit < end; ++unit)
      learn::mix_mean_effect(means[units_.fold[unit]], trial_.arms.control, outcomes_of(mixed).slice(unit, 1));
  });
  return mixed;
}

learn::Predicted StackJudge::known_mixture(std::span<const double> weights) {
  learn::Predicted mixed = mixture(unseen_, weights);
  learn::set_known_costs(prepared_.cost_facts, outcomes_of(mixed));
  return mixed;
}

evaluate::Estimate StackJudge::gain(const learn::Predicted& a, const learn::Predicted& b) {
  const evaluate::RewardUnits units{outcomes_.arm,
                                    outcomes_.revenue,
                                    outcomes_.cost,
                                    outcomes_.weight,
                                    std::as_const(nuisance_).revenue.view(),
                                    std::as_const(nuisance_).cost.view(),
                                    outcomes_.cluster,
                                    outcomes_.sample};
  return evaluate::net_value_difference(units, scores_of(a), scores_of(b), multipliers_, context_).mean();
}

evaluate::Estimate StackJudge::net_value(std::span<const double> weights) {
  learn::Predicted control = table(units_.size(), trial_.arms.size(), context_);
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    for (std::size_t arm = 0; arm < trial_.arms.size(); ++arm) {
      control.revenue(unit, arm) = arm == trial_.arms.control ? 1.0f : 0.0f;
      control.cost(unit, arm) = 0.0f;
    }
  }
  return gain(known_mixture(weights), control);
}

// The first member stands until others are better by more than chance may make them: of the way from it to these
// weights, the share of their gain that is left when it is shrunk by its standard error (eq. 21b).
Vector StackJudge::drawn_to_first(Vector weights) {
  Vector first(num_members());
  first.front() = 1.0;
  const evaluate::Estimate gain = risk_difference(first, weights);
  const double variance = gain.standard_error * gain.standard_error;
  const double share = gain.value > 0.0 ? shrunk(gain.value, variance) / gain.value : 0.0;
  for (std::size_t m = 0; m < weights.size(); ++m) weights[m] = share * weights[m] + (1.0 - share) * first[m];
  return weights;
}

Vector StackJudge::aggregated_weights() {
  const std::vector<Vector> draws = drawn_products();
  Vector found(num_members());
  for (const Vector& products : draws) {
    const Vector drawn = stack_weights(products, num_members());
    for (std::size_t m = 0; m < found.size(); ++m) found[m] += drawn[m] / static_cast<double>(draws.size());
  }
  return found;
}

Vector StackJudge::weights() {
  constexpr double kLeastWeight = 0.01;  // less costs a predictor and changes nothing to speak of
  Vector found = drawn_to_first(aggregated_weights());
  double total = 0.0;
  for (double& weight : found) {
    if (weight < kLeastWeight) weight = 0.0;
    total += weight;
  }
  for (double& weight : found) weight /= total;
  return found;
}

}  // namespace dfcl::train
