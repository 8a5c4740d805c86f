// SPDX-License-Identifier: Apache-2.0
#include "dfcl/simulate/offer_response.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/random.h"
#include "dfcl/simulate/unit_model.h"

namespace dfcl::simulate {
namespace {

constexpr std::uint32_t kLevelPurpose = core::stream_purpose("simulate level effect");
constexpr double kUnobservedSd = 0.1;
constexpr double kMaxRulesLift = 1.6;
constexpr double kMaxSmoothLift = 1.6;

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// 0 up to the threshold at 0, then rising to 1.
double above_threshold(double x) {
  const double positive = std::max(x, 0.0);
  return positive * positive / (1.0 + positive * positive);
}

std::vector<double> level_effects(CustomerCategory category, std::size_t num_levels) {
  std::vector<double> effects(num_levels);
  for (std::size_t level = 0; level < num_levels; ++level) {
    effects[level] = core::RandomStream(kWorldSeed, kLevelPurpose, category * 1000 + level).normal();
  }
  return effects;
}

// Lifts of the three offers of `rules`.
void add(std::span<double> lift, double first, double second, double third) {
  lift[1] += first;
  lift[2] += second;
  lift[3] += third;
}

}  // namespace

const OfferArms& offer_arms(Response response) {
  static const OfferArms rules = {.labels = {"0", "1", "2", "3"},
                                  .shares = {0.4, 0.3, 0.2, 0.1},
                                  .value_per_redemption = {0.0, 3.0, 5.0, 8.0},
                                  .discount_rate = {0.0, 0.0, 0.0, 0.0}};
  static const OfferArms few = {.labels = {"0", "1", "2"},
                                .shares = {0.5, 0.3, 0.2},
                                .value_per_redemption = {0.0, 5.0, 12.0},
                                .discount_rate = {0.0, 0.0, 0.0}};
  static const OfferArms smooth = {.labels = {"0", "3", "6", "10", "15", "25"},
                                   .shares = {0.3, 0.2, 0.15, 0.15, 0.12, 0.08},
                                   .value_per_redemption = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
                                   .discount_rate = {0.0, 0.03, 0.06, 0.10, 0.15, 0.25},
                                   .graded = true};
  if (response == Response::rules) return rules;
  return response == Response::few ? few : smooth;
}

OfferResponse::OfferResponse(Response family, const CustomerFeatures& features)
    : family_(family),
      arms_(offer_arms(family)),
      source_effects_(level_effects(kSource, features.num_levels(kSource))),
      store_effects_(level_effects(kStore, features.num_levels(kStore))),
      group_effects_(level_effects(kProductGroup, features.num_levels(kProductGroup))) {}

// Log of what is spent without an offer; the sd is about 1.2, so the tail is heavy.
double OfferResponse::log_base(const Customer& customer) const {
  const auto& x = customer.scores;
  const double levels = 0.15 * store_effects_[customer.levels[kStore]] +
                        0.2 * group_effects_[customer.levels[kProductGroup]] +
                        0.1 * source_effects_[customer.levels[kSource]];
  const double common = 0.9 * x[kSpendYear] + 0.3 * x[kMeanBasket] + levels + kUnobservedSd * customer.unobserved;
  if (family_ == Response::rules) {
    return 2.6 + common + (customer.flag(kIsMember) ? 0.3 : 0.0) - (x[kDaysSinceOrder] > 1.0 ? 0.5 : 0.0) +
           (customer.missing[kLastRating] ? -0.25 : 0.0);
  }
  if (family_ == Response::few)
    return 2.6 + 1.1 * x[kSpendYear] + 0.3 * x[kMeanBasket] + kUnobservedSd * customer.unobserved;
  return 2.7 + common + 0.2 * std::sin(2.0 * x[kAge]) - 0.2 * x[kDistanceKm];
}

void OfferResponse::add_rules(const Customer& customer, std::span<double> lift) const {
  const auto& x = customer.scores;
  const auto& levels = customer.levels;
  const auto& missing = customer.missing;
  if (x[kDiscountShare] > 0.3 && levels[kRegion] % 2 == 0) add(lift, 0.55, 0.25, 0.20);
  if (missing[kAppMinutes] && x[kAge] > 0.0) add(lift, 0.0, 0.70, 0.30);
  if (store_effects_[levels[kStore]] > 0.5 && x[kMeanBasket] < 0.3) add(lift, 0.10, 0.10, 0.90);
  if (x[kTenureDays] < -0.5 && levels[kChannel] == 1) add(lift, 0.80, 0.80, 0.80);
  if (!missing[kOpenedShare] && x[kOpenedShare] > 0.6) add(lift, 0.60, 0.0, 0.0);
  if (missing[kLastRating] && x[kDaysSinceOrder] > 0.0) add(lift, 0.0, 0.0, 0.80);
  if ((levels[kPayment] == 1 || levels[kPayment] == 3) && x[kIncomeOfArea] < 0.0) add(lift, 0.20, 0.60, 0.80);
  if (customer.flag(kIsMember) && x[kVisitsMonth] > 0.5) add(lift, -0.15, -0.10, -0.05);
  if (x[kDistanceKm] > 0.8) add(lift, 0.05, 0.40, 0.40);
  if (levels[kTariff] == 2 && x[kNightShare] > 0.0) add(lift, 0.20, 0.70, 0.25);
  for (double& value : lift) value = std::min(value, kMaxRulesLift);
}

void OfferResponse::add_few(const Customer& customer, std::span<double> lift) const {
  const auto& x = customer.scores;
  const bool reachable = customer.flag(kIsStudent) || customer.levels[kChannel] == 2 || customer.missing[kOpenedShare];
  if (!(x[kDiscountShare] > 0.2 && reachable && x[kTenureDays] < 0.8)) return;
  const double strength = x[kMeanBasket] > 0.0 ? 1.0 : 0.6;
  lift[1] = 1.8 * strength;
  lift[2] = (customer.levels[kRegion] < 3 ? 3.2 : 2.2) * strength;
}

void OfferResponse::add_smooth(const Customer& customer, std::span<double> lift) const {
  const auto& x = customer.scores;
  const double index = 0.9 * x[kDiscountShare] + 0.6 * x[kCouponsUsed] - 0.5 * x[kIncomeOfArea] +
                       0.5 * x[kAge] * x[kMobileShare] + 0.4 * std::sin(1.5 * x[kOpenedShare]) +
                       0.35 * store_effects_[customer.levels[kStore]] + 0.3 * x[kDistanceKm] - 0.3 * x[kTenureDays];
  const double strength = kMaxSmoothLift * above_threshold(index - 0.2);
  // Half of the effect is reached at this discount; the steepness makes it a threshold for some and concave for others.
  const double half = 0.03 + 0.09 * logistic(x[kIncomeOfArea] + x[kRegularPriceShare]);
  const double steepness = 1.0 + 4.0 * logistic(1.5 * x[kTenureDays]);
  const auto curve = [&](double rate) { return 1.0 / (1.0 + std::pow(half / rate, steepness)); };
  const double top = curve(arms_.discount_rate.back());
  for (std::size_t arm = 1; arm < arms_.labels.size(); ++arm) {
    lift[arm] = strength * curve(arms_.discount_rate[arm]) / top;
  }
}

OfferEffects OfferResponse::effects(const Customer& customer) const {
  const std::size_t num_arms = arms_.labels.size();
  OfferEffects effects;
  effects.base = std::exp(log_base(customer));
  effects.regular_price_share = logistic(0.4 + 0.8 * customer.scores[kRegularPriceShare]);
  const std::span<double> lift(effects.lift.data(), num_arms);
  if (family_ == Response::rules) add_rules(customer, lift);
  if (family_ == Response::few) add_few(customer, lift);
  if (family_ == Response::smooth) add_smooth(customer, lift);
  // Who buys often redeems often, whether or not the offer made the difference.
  const double habit = 0.25 * std::exp(0.5 * customer.scores[kOrdersYear] + 0.35 * customer.scores[kCouponsUsed]) *
                       (customer.levels[kPayment] == 0 ? 1.3 : 1.0);
  for (std::size_t arm = 1; arm < num_arms; ++arm) {
    effects.redemptions[arm] = arms_.value_per_redemption[arm] > 0.0 ? habit * (1.0 + effects.lift[arm]) : 0.0;
  }
  return effects;
}

}  // namespace dfcl::simulate
