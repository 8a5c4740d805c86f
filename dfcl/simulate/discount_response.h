// SPDX-License-Identifier: Apache-2.0
//
// How a shop's orders answer to a discount: not at all, along a concave curve, or only above a threshold. Which of
// these, how much and where depends on the shop's features through one of three families of functions. Costs a few
// exponentials a row.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "dfcl/simulate/options.h"
#include "dfcl/simulate/split_tree.h"

namespace dfcl::simulate {

// The features that drive the response, on a scale with mean 0 and sd 1 (flags: 0 or 1).
enum Driver : std::size_t {
  kCouponShare,
  kComparerShare,
  kMemberShare,
  kYoungShare,
  kNewCustomerShare,
  kBasket,
  kCompetitors,
  kRating,
  kDeliveryFee,
  kAreaIncome,
  kCuisine,  // an effect of the category
  kCompetitorDiscount,
  kNearUniversity,
  kNumDrivers
};
using Drivers = std::array<double, kNumDrivers>;

// The orders under a discount rate are the orders without it times (1 + strength x curve(rate)), curve(0) = 0 and
// curve(.2) about 1; curve = concave_weight x concave + (1 - concave_weight) x threshold.
struct ResponseShape {
  double strength = 0.0;
  double concave_weight = 1.0;
  double concave_scale = 0.06;  // rate at which 63 % of the concave effect is reached
  double threshold = 0.1;       // rate at which half of the threshold effect is reached
  double threshold_width = 0.012;
};

class DiscountResponse {
 public:
  explicit DiscountResponse(Response family);

  ResponseShape shape(const Drivers& drivers) const;

 private:
  Response family_;
  SplitTree region_tree_;
  SplitTree scale_tree_;
  std::vector<ResponseShape> regions_;  // a leaf of region_tree_ each
  std::vector<double> scales_;          // a leaf of scale_tree_ each
};

// The relative lift at each rate.
void lift_at_rates(const ResponseShape& shape, std::span<const double> rates, std::span<double> lift);

}  // namespace dfcl::simulate
