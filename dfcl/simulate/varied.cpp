// SPDX-License-Identifier: Apache-2.0
//
// The preset varied: customers of a chain of shops and offers of several kinds; spending, and what the offers cost. A
// second family of trials, of another make than marketing: other features, holes that say something, categories of many
// levels, three to six arms of unequal shares, money with a heavy tail.
#include <cmath>

#include "dfcl/core/random.h"
#include "dfcl/simulate/customer_features.h"
#include "dfcl/simulate/offer_response.h"
#include "dfcl/simulate/unit_model.h"

namespace dfcl::simulate {
namespace {

constexpr std::uint32_t kOutcomePurpose = core::stream_purpose("simulate spending");
constexpr std::uint32_t kRedemptionPurpose = core::stream_purpose("simulate redemptions");
constexpr double kBasket = 4.0;        // mean of a purchase
constexpr double kBasketShape = 2.0;   // of the gamma distribution of a purchase
constexpr double kLogNormalSd = 0.3;   // of a factor of mean 1 on the whole: the heavy tail
constexpr double kRateVariance = 0.1;  // of the factor of mean 1 on the number of purchases

// Money of this mean: nothing for some, else purchases of gamma-distributed amounts, times a log-normal factor.
double draw_spending(core::RandomStream& stream, double mean) {
  const double rate = mean / kBasket * stream.gamma(1.0 / kRateVariance) * kRateVariance;
  const double factor = std::exp(kLogNormalSd * stream.normal() - 0.5 * kLogNormalSd * kLogNormalSd);
  const auto purchases = static_cast<double>(stream.poisson(rate));
  if (purchases == 0.0) return 0.0;
  return kBasket * stream.gamma(purchases * kBasketShape) / kBasketShape * factor;
}

class Varied final : public UnitModel {
 public:
  explicit Varied(const SimulatorOptions& options)
      : seed_(options.seed),
        outcome_seed_(outcome_seed(options)),
        arms_(offer_arms(options.response)),
        response_(options.response, features_) {}

  const std::vector<data::ColumnInfo>& feature_columns() const override { return features_.columns(); }

  Roles roles() const override {
    return {.id = "customer_id",
            .arm = "offer",
            .revenue = "spending",
            .cost = "offer_cost",
            .control_is_free = true,
            .graded_arms = arms_.graded};
  }

  UnitBlock make_units(std::span<const UnitKey> keys, bool with_features) const override {
    const std::size_t num_arms = arms_.labels.size();
    UnitBlock block{.features = {},
                    .lean = std::vector<double>(keys.size()),
                    .revenue = core::Matrix<double>(keys.size(), num_arms),
                    .cost = core::Matrix<double>(keys.size(), num_arms)};
    if (with_features) block.features = features_.make_columns(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Customer customer = features_.draw(seed_, keys[i].unit);
      const OfferEffects effects = response_.effects(customer);
      for (std::size_t arm = 0; arm < num_arms; ++arm) {
        block.revenue(i, arm) = effects.base * (1.0 + effects.lift[arm]);
        block.cost(i, arm) = arms_.value_per_redemption[arm] * effects.redemptions[arm] +
                             arms_.discount_rate[arm] * effects.regular_price_share * block.revenue(i, arm);
      }
      block.lean[i] = customer.scores[kSpendYear];
      if (with_features) features_.write_row(customer, i, block.features);
    }
    return block;
  }

  void draw_outcomes(std::span<const UnitKey> keys, const UnitBlock& block, std::span<const std::uint8_t> arms,
                     std::span<double> revenue, std::span<double> cost) const override {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::uint8_t arm = arms[i];
      core::RandomStream stream(outcome_seed_, kOutcomePurpose, keys[i].row_index());
      const double value = arms_.value_per_redemption[arm];
      core::RandomStream redemptions(outcome_seed_, kRedemptionPurpose, keys[i].row_index());
      const double mean = block.revenue(i, arm);
      revenue[i] = draw_spending(stream, mean);
      cost[i] = value > 0.0 ? value * static_cast<double>(redemptions.poisson(block.cost(i, arm) / value))
                            : revenue[i] * (block.cost(i, arm) / mean);
    }
  }

 private:
  std::uint64_t seed_;
  std::uint64_t outcome_seed_;
  const OfferArms& arms_;
  CustomerFeatures features_;
  OfferResponse response_;
};

}  // namespace

std::unique_ptr<UnitModel> make_varied(const SimulatorOptions& options) { return std::make_unique<Varied>(options); }

}  // namespace dfcl::simulate
