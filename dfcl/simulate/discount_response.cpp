// SPDX-License-Identifier: Apache-2.0
#include "dfcl/simulate/discount_response.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/random.h"
#include "dfcl/simulate/unit_model.h"

namespace dfcl::simulate {
namespace {

constexpr double kMaxStrength = 0.75;
constexpr double kTopRate = 0.2;
// Shares of the regions of the tree family that do not respond, and that respond along a concave curve.
constexpr double kRegionsWithout = 0.35;
constexpr double kRegionsConcave = 0.3;

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// 0 for x <= 0, smooth, rising to 1.
double saturating(double x) {
  const double positive = std::max(x, 0.0);
  return positive * positive / (1.0 + positive * positive);
}

ResponseShape smooth_shape(const Drivers& d) {
  const double pull = 1.2 * d[kCouponShare] + 0.9 * d[kComparerShare] - 0.7 * d[kMemberShare] +
                      0.5 * d[kBasket] * d[kCompetitors] + 0.5 * std::sin(1.5 * d[kNewCustomerShare]) +
                      0.6 * d[kNearUniversity] * d[kYoungShare] + 0.3 * d[kCuisine] - 0.3 * d[kCompetitorDiscount];
  const double kind = 1.6 * d[kAreaIncome] - 1.2 * d[kDeliveryFee] + 0.8 * d[kRating];
  return {.strength = kMaxStrength * saturating(pull),
          .concave_weight = logistic(2.0 * kind),
          .concave_scale = 0.03 + 0.07 * logistic(d[kRating]),
          .threshold = 0.115 + 0.05 * std::tanh(d[kDeliveryFee] + 0.5 * d[kBasket]),
          .threshold_width = 0.012};
}

ResponseShape sparse_shape(const Drivers& d) {
  return {.strength = kMaxStrength * saturating(1.4 * d[kCouponShare] + 0.8 * d[kNearUniversity] + 0.1),
          .concave_weight = logistic(3.0 * d[kBasket]),
          .concave_scale = 0.05,
          .threshold = 0.125,
          .threshold_width = 0.012};
}

std::vector<ResponseShape> draw_regions(std::size_t num_regions) {
  std::vector<ResponseShape> regions;
  for (std::size_t region = 0; region < num_regions; ++region) {
    core::RandomStream stream(kWorldSeed, core::stream_purpose("simulate response region"), region);
    const double kind = stream.uniform();
    const double strength = stream.uniform(0.25, kMaxStrength);
    const double scale = stream.uniform(0.03, 0.09);
    const double threshold = 0.025 + 0.05 * (1 + stream.below(3));  // between two of the discounts
    regions.push_back({.strength = kind < kRegionsWithout ? 0.0 : strength,
                       .concave_weight = kind < kRegionsWithout + kRegionsConcave ? 1.0 : 0.0,
                       .concave_scale = scale,
                       .threshold = threshold,
                       .threshold_width = 0.002});
  }
  return regions;
}

}  // namespace

DiscountResponse::DiscountResponse(Response family)
    : family_(family),
      region_tree_(5, kNearUniversity, -0.5, 0.5, 0),  // the drivers before the flag, which has no such threshold
      scale_tree_(2, kNearUniversity, -0.5, 0.5, 1),
      regions_(draw_regions(region_tree_.num_leaves())),
      scales_({0.6, 1.0, 1.0, 1.4}) {}

ResponseShape DiscountResponse::shape(const Drivers& drivers) const {
  if (family_ == Response::smooth) return smooth_shape(drivers);
  if (family_ == Response::sparse) return sparse_shape(drivers);
  ResponseShape shape = regions_[region_tree_.leaf(drivers)];
  shape.strength *= scales_[scale_tree_.leaf(drivers)];
  return shape;
}

void lift_at_rates(const ResponseShape& shape, std::span<const double> rates, std::span<double> lift) {
  const double concave_top = -std::expm1(-kTopRate / shape.concave_scale);
  const double start = logistic(-shape.threshold / shape.threshold_width);
  for (std::size_t arm = 0; arm < rates.size(); ++arm) {
    if (shape.strength == 0.0) {
      lift[arm] = 0.0;
      continue;
    }
    const double concave = -std::expm1(-rates[arm] / shape.concave_scale) / concave_top;
    const double step = logistic((rates[arm] - shape.threshold) / shape.threshold_width) - start;
    lift[arm] = shape.strength * (shape.concave_weight * concave + (1.0 - shape.concave_weight) * step);
  }
}

}  // namespace dfcl::simulate
