// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/soft_dual.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "dfcl/allocate/passes.h"

namespace dfcl::allocate {
namespace {

// Arms whose share of a unit is below exp of this do not count.
constexpr double kFarBehind = -36.0;

// Prices of scaled scores, so that a unit's score is one line.
struct ScaledPrices {
  double revenue = 0.0;
  std::vector<double> cost;  // per segment
  double second = 0.0;
  std::vector<double> arm;  // empty: none

  ScaledPrices(const CoupledModel& model, const std::vector<double>& multipliers, bool with_gains) {
    std::vector<double> unscaled = multipliers;
    for (std::size_t k = 0; k < unscaled.size(); ++k) unscaled[k] /= model.scales()[k];
    const PriceBox box = model.price_box(unscaled, unscaled);
    const double gain = with_gains ? 1.0 / model.gain_spread() : 0.0;
    revenue = gain * model.revenue_gain();
    cost = box.cost_price;
    for (double& price : cost) price += (gain - 1.0) * model.cost_loss();
    second = box.second_price;
    arm = box.arm_price;
  }
};

// Sums over units of the soft choice's means and covariances: of cost by segment, second cost, and each arm's share.
struct Moments {
  std::size_t num_arms = 0;  // 0: no limits of units per arm
  double value = 0.0;
  std::vector<double> cost;  // per segment, as the next two
  std::vector<double> cost_cost;
  std::vector<double> cost_second;
  std::vector<double> cost_arm;  // segments x arms
  double second = 0.0;
  double second_second = 0.0;
  std::vector<double> second_arm;
  std::vector<double> arm;
  std::vector<double> arm_arm;  // arms x arms

  Moments(std::size_t segments, std::size_t arms)
      : num_arms(arms),
        cost(segments),
        cost_cost(segments),
        cost_second(segments),
        cost_arm(segments * arms),
        second_arm(arms),
        arm(arms),
        arm_arm(arms * arms) {}
  void add(const Moments& other) {
    const auto join = [](std::vector<double>& to, const std::vector<double>& from) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    };
    value += other.value;
    second += other.second;
    second_second += other.second_second;
    join(cost, other.cost);
    join(cost_cost, other.cost_cost);
    join(cost_second, other.cost_second);
    join(cost_arm, other.cost_arm);
    join(second_arm, other.second_arm);
    join(arm, other.arm);
    join(arm_arm, other.arm_arm);
  }
};

class UnitMoments {
 public:
  UnitMoments(const CoupledModel& model, const ScaledPrices& prices, double softness)
      : problem_(model.problem()),
        prices_(prices),
        known_(problem_.rules.price.empty() ? nullptr : problem_.rules.price.data()),
        softness_(softness),
        per_softness_(1.0 / softness) {}

  void add(std::size_t unit, Moments& moments) {
    const double best = score(unit);
    choose(best);
    const std::size_t segment = problem_.segments.budgets.empty() ? 0 : problem_.segments.of_unit[unit];
    const float* second =
        problem_.second.cost.data == nullptr ? nullptr : problem_.second.cost.data + unit * problem_.num_arms();
    if (num_chosen_ == 1) {
      const std::size_t arm = chosen_[0];
      moments.value += best;
      moments.cost[segment] += paid_[arm];
      if (second != nullptr) moments.second += static_cast<double>(second[arm]);
      if (moments.num_arms > 0) moments.arm[arm] += 1.0;
      return;
    }
    add_mixed(segment, second, best, moments);
  }

 private:
  double score(std::size_t unit) {
    const std::size_t num_arms = problem_.num_arms();
    const std::size_t segment = problem_.segments.budgets.empty() ? 0 : problem_.segments.of_unit[unit];
    const float* revenue = problem_.revenue.data + unit * num_arms;
    const float* cost = problem_.cost.data + unit * num_arms;
    const float* second = problem_.second.cost.data == nullptr ? nullptr : problem_.second.cost.data + unit * num_arms;
    const std::uint8_t* eligible = problem_.eligible.data == nullptr ? nullptr : problem_.eligible.row(unit).data();
    const double price = prices_.cost[segment];
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      paid_[arm] = known_ != nullptr ? known_[arm] : static_cast<double>(cost[arm]);
      double score = prices_.revenue * static_cast<double>(revenue[arm]) - price * paid_[arm];
      if (second != nullptr) score -= prices_.second * static_cast<double>(second[arm]);
      if (!prices_.arm.empty()) score -= prices_.arm[arm];
      if (eligible != nullptr && eligible[arm] == 0) score = -std::numeric_limits<double>::infinity();
      score_[arm] = score;
      best = std::max(best, score);
    }
    return best;
  }

  // The arms that count, and their shares.
  void choose(double best) {
    num_chosen_ = 0;
    sum_ = 0.0;
    for (std::size_t arm = 0; arm < problem_.num_arms(); ++arm) {
      const double behind = (score_[arm] - best) * per_softness_;
      if (!(behind > kFarBehind)) continue;
      const double share = behind == 0.0 ? 1.0 : std::exp(behind);
      chosen_[num_chosen_] = arm;
      share_[num_chosen_++] = share;
      sum_ += share;
    }
  }

  void add_mixed(std::size_t segment, const float* second, double best, Moments& moments) {
    moments.value += best + softness_ * std::log(sum_);
    double mean_cost = 0.0;
    double mean_second = 0.0;
    for (std::size_t i = 0; i < num_chosen_; ++i) {
      share_[i] /= sum_;
      mean_cost += share_[i] * paid_[chosen_[i]];
      if (second != nullptr) mean_second += share_[i] * static_cast<double>(second[chosen_[i]]);
    }
    moments.cost[segment] += mean_cost;
    moments.second += mean_second;
    for (std::size_t i = 0; i < num_chosen_; ++i) {
      const std::size_t arm = chosen_[i];
      const double weight = share_[i] * per_softness_;
      const double cost = paid_[arm] - mean_cost;
      const double other = second == nullptr ? 0.0 : static_cast<double>(second[arm]) - mean_second;
      moments.cost_cost[segment] += weight * cost * cost;
      moments.cost_second[segment] += weight * cost * other;
      moments.second_second += weight * other * other;
      if (moments.num_arms == 0) continue;
      moments.arm[arm] += share_[i];
      moments.cost_arm[segment * moments.num_arms + arm] += weight * cost;
      moments.second_arm[arm] += weight * other;
      double* row = moments.arm_arm.data() + arm * moments.num_arms;
      for (std::size_t j = 0; j < num_chosen_; ++j) row[chosen_[j]] -= weight * share_[j];
      row[arm] += weight;
    }
  }

  const Problem& problem_;
  const ScaledPrices& prices_;
  const double* known_;
  double softness_;
  double per_softness_;
  std::array<double, kMaxArms> paid_;
  std::array<double, kMaxArms> score_;
  std::array<std::size_t, kMaxArms> chosen_;
  std::array<double, kMaxArms> share_;
  std::size_t num_chosen_ = 0;
  double sum_ = 0.0;
};

// What a limit counts: cost of a segment (or of all), second cost, or the units of an arm.
struct Counted {
  enum Kind { cost, second, arm } kind = cost;
  std::size_t index = CoupledModel::kNone;  // segment or arm; none: all segments
  double sign = 1.0;
};

std::vector<Counted> counted_by(const CoupledModel& model) {
  std::vector<Counted> counted(model.num_limits());
  const auto note = [&](std::size_t limit, Counted what) {
    if (limit != CoupledModel::kNone) counted[limit] = what;
  };
  note(model.second, {Counted::second, 0, 1.0});
  for (std::size_t s = 0; s < model.segment.size(); ++s) note(model.segment[s], {Counted::cost, s, 1.0});
  for (std::size_t j = 0; j < model.upper.size(); ++j) note(model.upper[j], {Counted::arm, j, 1.0});
  for (std::size_t j = 0; j < model.lower.size(); ++j) note(model.lower[j], {Counted::arm, j, -1.0});
  return counted;
}

// The covariance of what two limits count, the kinds in order.
double covariance(const Moments& moments, const Counted& a, const Counted& b) {
  const auto over_segments = [&](std::size_t segment, auto&& of) {
    if (segment != CoupledModel::kNone) return of(segment);
    double sum = 0.0;
    for (std::size_t s = 0; s < moments.cost.size(); ++s) sum += of(s);
    return sum;
  };
  if (a.kind == Counted::cost && b.kind == Counted::cost) {
    if (a.index != CoupledModel::kNone && b.index != CoupledModel::kNone && a.index != b.index) return 0.0;
    return over_segments(a.index != CoupledModel::kNone ? a.index : b.index,
                         [&](std::size_t s) { return moments.cost_cost[s]; });
  }
  if (a.kind == Counted::cost && b.kind == Counted::second)
    return over_segments(a.index, [&](std::size_t s) { return moments.cost_second[s]; });
  if (a.kind == Counted::cost)
    return over_segments(a.index, [&](std::size_t s) { return moments.cost_arm[s * moments.num_arms + b.index]; });
  if (a.kind == Counted::second && b.kind == Counted::second) return moments.second_second;
  if (a.kind == Counted::second) return moments.second_arm[b.index];
  return moments.arm_arm[a.index * moments.num_arms + b.index];
}

double mean_of(const Moments& moments, const Counted& counted) {
  if (counted.kind == Counted::second) return moments.second;
  if (counted.kind == Counted::arm) return moments.arm[counted.index];
  if (counted.index != CoupledModel::kNone) return moments.cost[counted.index];
  double sum = 0.0;
  for (const double cost : moments.cost) sum += cost;
  return sum;
}

}  // namespace

Soft soft_dual(const CoupledModel& model, const std::vector<double>& multipliers, const SoftTerms& terms,
               core::RunContext& context) {
  const std::size_t num_limits = model.num_limits();
  const std::size_t num_units = model.num_units();
  const ScaledPrices prices(model, multipliers, terms.with_gains);
  std::vector<Moments> parts(kParts, Moments(prices.cost.size(), prices.arm.size()));
  context.pool.run(kParts, [&](std::size_t part) {
    context.check_cancelled();
    UnitMoments units(model, prices, terms.softness);
    const std::size_t end = part_begin(num_units, part + 1);
    for (std::size_t unit = part_begin(num_units, part); unit < end; ++unit) units.add(unit, parts[part]);
  });
  Moments moments(prices.cost.size(), prices.arm.size());
  for (const Moments& part : parts) moments.add(part);
  const double per_unit = 1.0 / std::max(1.0, static_cast<double>(num_units));
  const std::vector<Counted> counted = counted_by(model);
  Soft soft{moments.value * per_unit, std::vector<double>(num_limits), std::vector<double>(num_limits * num_limits)};
  for (std::size_t k = 0; k < num_limits; ++k) {
    const double use = counted[k].sign / model.scales()[k] * per_unit;
    const double multiplier = multipliers[k];
    const double limit = model.limits()[k] / model.scales()[k] * per_unit;
    soft.value += multiplier * (limit + 0.5 * terms.ridge * multiplier) - terms.barrier * std::log(multiplier);
    soft.slope[k] = limit - use * mean_of(moments, counted[k]) - terms.barrier / multiplier + terms.ridge * multiplier;
    for (std::size_t l = 0; l < num_limits; ++l) {
      const bool in_order = counted[k].kind <= counted[l].kind;
      soft.curvature[k * num_limits + l] =
          use * counted[l].sign / model.scales()[l] *
          (in_order ? covariance(moments, counted[k], counted[l]) : covariance(moments, counted[l], counted[k]));
    }
    soft.curvature[k * num_limits + k] += terms.barrier / (multiplier * multiplier) + terms.ridge;
  }
  return soft;
}

}  // namespace dfcl::allocate
