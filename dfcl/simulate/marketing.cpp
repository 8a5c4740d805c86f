// SPDX-License-Identifier: Apache-2.0
//
// The preset marketing: shops of a delivery platform, five graded discounts, orders and subsidy.
#include <algorithm>
#include <array>
#include <cmath>

#include "dfcl/core/random.h"
#include "dfcl/simulate/discount_response.h"
#include "dfcl/simulate/shop_features.h"
#include "dfcl/simulate/unit_model.h"

namespace dfcl::simulate {
namespace {

constexpr std::uint32_t kOutcomePurpose = core::stream_purpose("simulate orders");
constexpr std::uint32_t kCategoryPurpose = core::stream_purpose("simulate category effect");

constexpr std::array<double, 5> kRates = {0.0, 0.05, 0.10, 0.15, 0.20};
constexpr std::array<double, 7> kWeekdayEffects = {-0.10, -0.14, -0.08, 0.0, 0.12, 0.22, 0.10};
// Natural variance of the orders: mean + kOverdispersion x mean^2.
constexpr double kOverdispersion = 0.05;
constexpr double kUnobservedSd = 0.15;

std::vector<double> category_effects(Category category, std::size_t num_levels) {
  std::vector<double> effects(num_levels);
  for (std::size_t level = 0; level < num_levels; ++level) {
    effects[level] = core::RandomStream(kWorldSeed, kCategoryPurpose, category * 1000 + level).normal();
  }
  return effects;
}

// A count of this mean whose variance is noise x the natural one (noise >= 1): Poisson with a gamma-distributed mean.
double draw_count(core::RandomStream& stream, double mean, double noise) {
  const double relative_variance = noise * kOverdispersion + (noise - 1.0) / mean;
  const double draw = stream.gamma(1.0 / relative_variance) * relative_variance;
  return static_cast<double>(stream.poisson(mean * draw));
}

class Marketing final : public UnitModel {
 public:
  explicit Marketing(const SimulatorOptions& options)
      : seed_(options.seed),
        outcome_seed_(outcome_seed(options)),
        cost_scale_(options.cost_scale),
        population_shift_(options.population_shift),
        has_days_(options.num_days > 0),
        family_(options.response),
        noise_(options.noise),
        response_(options.response),
        city_effects_(category_effects(kCity, features_.num_levels(kCity))),
        cuisine_effects_(category_effects(kCuisineType, features_.num_levels(kCuisineType))),
        applicable_(features_.score_index("share_orders_above_price")),
        size_feature_(features_.score_index("reviews_count")),
        drivers_({features_.score_index("share_coupon_orders"), features_.score_index("share_price_comparers"),
                  features_.score_index("share_members"), features_.score_index("share_young_customers"),
                  features_.score_index("share_new_customers"), features_.score_index("avg_basket"),
                  features_.score_index("competitors_1km"), features_.score_index("rating"),
                  features_.score_index("delivery_fee"), features_.score_index("income_area")}),
        near_university_(features_.score_index("near_university")),
        is_chain_(features_.score_index("is_chain")) {}

  const std::vector<data::ColumnInfo>& feature_columns() const override { return features_.columns(); }

  Roles roles() const override {
    return {.id = "shop_id",
            .arm = "discount",
            .revenue = "orders",
            .cost = "subsidy",
            .control_is_free = true,
            .graded_arms = true};
  }

  UnitBlock make_units(std::span<const UnitKey> keys, bool with_features) const override {
    UnitBlock block{.features = {},
                    .lean = std::vector<double>(keys.size()),
                    .revenue = core::Matrix<double>(keys.size(), kRates.size()),
                    .cost = core::Matrix<double>(keys.size(), kRates.size())};
    if (with_features) block.features = features_.make_columns(keys.size());
    std::array<double, kRates.size()> lift;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const ShopDay shop = features_.draw(seed_, keys[i], has_days_, population_shift_);
      const double base = std::exp(log_base(shop));
      const double applicable = ShopFeatures::shown_value(applicable_, shop.scores[applicable_]);
      lift_at_rates(response_.shape(drivers_of(shop)), kRates, lift);
      for (std::size_t arm = 0; arm < kRates.size(); ++arm) {
        block.revenue(i, arm) = base * (1.0 + lift[arm]);
        block.cost(i, arm) = cost_scale_ * kRates[arm] * applicable * block.revenue(i, arm);
      }
      block.lean[i] = shop.scores[size_feature_];
      if (with_features) features_.write_row(seed_, keys[i], shop, i, block.features);
    }
    return block;
  }

  void draw_outcomes(std::span<const UnitKey> keys, const UnitBlock& block, std::span<const std::uint8_t> arms,
                     std::span<double> revenue, std::span<double> cost) const override {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      core::RandomStream stream(outcome_seed_, kOutcomePurpose, keys[i].row_index());
      const double mean = block.revenue(i, arms[i]);
      double orders = draw_count(stream, mean, std::max(noise_, 1.0));
      // Less than the natural noise: drawn towards the expectation, which is no whole number.
      if (noise_ < 1.0) orders = mean + std::sqrt(noise_) * (orders - mean);
      revenue[i] = orders;
      cost[i] = orders * (block.cost(i, arms[i]) / mean);
    }
  }

 private:
  // Log of the orders a day without a discount.
  double log_base(const ShopDay& shop) const {
    const double day = kWeekdayEffects[static_cast<std::size_t>(shop.day_numbers[kWeekday])] +
                       0.01 * std::min(shop.day_numbers[kRain], 10.0);
    const double lasting = kUnobservedSd * shop.unobserved + day;
    const auto& t = shop.traits;
    if (family_ == Response::sparse) return 1.5 + 1.5 * t[kSize] + lasting;
    const double category =
        0.15 * city_effects_[shop.levels[kCity]] + 0.2 * cuisine_effects_[shop.levels[kCuisineType]];
    if (family_ == Response::tree) {
      const double steps = std::floor(2.0 * t[kSize] + 0.5) / 2.0;
      const double chain = 0.3 * ShopFeatures::shown_value(is_chain_, shop.scores[is_chain_]);
      return 1.9 + 1.1 * steps + (t[kQuality] > 0.3 ? 0.25 : 0.0) - (t[kCompetition] > 0.8 ? 0.3 : 0.0) + chain +
             category + lasting;
    }
    return 2.0 + 1.1 * t[kSize] + 0.2 * t[kQuality] - 0.15 * t[kCompetition] * t[kAffluence] + category + lasting;
  }

  Drivers drivers_of(const ShopDay& shop) const {
    Drivers drivers;
    for (std::size_t i = 0; i < drivers_.size(); ++i) drivers[i] = shop.scores[drivers_[i]];
    drivers[kCuisine] = cuisine_effects_[shop.levels[kCuisineType]];
    drivers[kCompetitorDiscount] = shop.competitor_discount_score;
    drivers[kNearUniversity] = ShopFeatures::shown_value(near_university_, shop.scores[near_university_]);
    return drivers;
  }

  std::uint64_t seed_;
  std::uint64_t outcome_seed_;
  double cost_scale_;
  double population_shift_;
  bool has_days_;
  Response family_;
  double noise_;
  ShopFeatures features_;
  DiscountResponse response_;
  std::vector<double> city_effects_;
  std::vector<double> cuisine_effects_;
  std::size_t applicable_;
  std::size_t size_feature_;
  std::array<std::size_t, kCuisine> drivers_;  // places among the scores, in the order of Driver
  std::size_t near_university_;
  std::size_t is_chain_;
};

}  // namespace

std::unique_ptr<UnitModel> make_marketing(const SimulatorOptions& options) {
  return std::make_unique<Marketing>(options);
}

}  // namespace dfcl::simulate
