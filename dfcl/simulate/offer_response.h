// SPDX-License-Identifier: Apache-2.0
//
// What a customer spends without an offer, how much more with each, and how often the offer is redeemed: the three
// kinds of truth of the preset varied. rules: ten rules over numbers, categories and holes, each arm with effects of
// its own. few: one customer in ten responds, and strongly. smooth: graded discounts, a smooth index with a threshold
// below which nothing happens. Costs a few exponentials a row.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dfcl/simulate/customer_features.h"
#include "dfcl/simulate/options.h"

namespace dfcl::simulate {

inline constexpr std::size_t kMaxOfferArms = 6;

// The arms of a kind of truth. An offer costs value_per_redemption each time it is redeemed, and discount_rate of what
// is spent at regular prices.
struct OfferArms {
  std::vector<std::string> labels;  // control first
  std::vector<double> shares;
  std::vector<double> value_per_redemption;
  std::vector<double> discount_rate;
  bool graded = false;
};
const OfferArms& offer_arms(Response response);

// Expectations. Spending under an arm is base x (1 + lift).
struct OfferEffects {
  double base = 0.0;
  double regular_price_share = 0.0;  // of the spending, to which a discount applies
  std::array<double, kMaxOfferArms> lift = {};
  std::array<double, kMaxOfferArms> redemptions = {};
};

class OfferResponse {
 public:
  OfferResponse(Response family, const CustomerFeatures& features);

  OfferEffects effects(const Customer& customer) const;

 private:
  double log_base(const Customer& customer) const;
  void add_rules(const Customer& customer, std::span<double> lift) const;
  void add_few(const Customer& customer, std::span<double> lift) const;
  void add_smooth(const Customer& customer, std::span<double> lift) const;

  Response family_;
  const OfferArms& arms_;
  std::vector<double> source_effects_;  // a level each, normal
  std::vector<double> store_effects_;
  std::vector<double> group_effects_;
};

}  // namespace dfcl::simulate
