// SPDX-License-Identifier: Apache-2.0
#include "dfcl/simulate/shop_catalogue.h"

#include <cmath>
#include <vector>

namespace dfcl::simulate {
namespace {

using enum NumberKind;

// Activity over 7, 30 and 90 days: name, log of the amount a day, spread, second trait and its load.
struct Activity {
  const char* name;
  NumberKind kind;
  double log_a_day;
  double spread;
  Trait second;
  double load_second;
};
const std::array<Activity, 10> kActivities = {{
    {"orders", count, 2.0, 1.1, kQuality, 0.15},
    {"sales", amount, 4.9, 1.2, kAffluence, 0.25},
    {"views", count, 4.6, 1.2, kCompetition, -0.2},
    {"clicks", count, 3.1, 1.1, kYouth, 0.15},
    {"visitors", count, 2.9, 1.1, kPromotion, 0.15},
    {"carts", count, 2.0, 1.1, kPromotion, 0.25},
    {"new_customers", count, 0.3, 1.0, kLoyalty, -0.3},
    {"repeat_customers", count, 0.6, 1.1, kLoyalty, 0.3},
    {"coupons_used", count, -0.6, 1.2, kPromotion, 0.4},
    {"refunds", count, -2.2, 1.0, kQuality, -0.3},
}};

// Measured over a longer time the same activity hangs more tightly on the size of the shop.
struct Window {
  const char* suffix;
  double days;
  double load_size;
  double missing;
};
const std::array<Window, 3> kWindows = {{{"_7d", 7.0, 0.8, 0.0}, {"_30d", 30.0, 0.88, 0.0}, {"_90d", 90.0, 0.9, 0.06}}};

const std::vector<NumberSpec> kAmounts = {
    {"avg_basket", amount, 3.1, 0.4, kAffluence, 0.6, kSize, 0.1},
    {"median_item_price", amount, 2.2, 0.4, kAffluence, 0.6, kQuality, 0.2, 0.02},
    {"delivery_fee", amount, 0.9, 0.5, kAffluence, 0.3, kCompetition, -0.3},
    {"min_order_amount", amount, 2.3, 0.4, kAffluence, 0.3, kSize, 0.1, 0.05},
    {"delivery_minutes", amount, 3.5, 0.3, kQuality, -0.4, kCompetition, -0.2},
    {"prep_minutes", amount, 2.7, 0.4, kQuality, -0.4, kSize, 0.2, 0.08, true},
    {"delivery_km", amount, 0.9, 0.5, kCompetition, -0.4, kAffluence, 0.1},
    {"ad_spend_30d", amount, 3.5, 1.6, kSize, 0.5, kPromotion, 0.5, 0.2, true},
    {"subsidy_30d", amount, 3.0, 1.4, kPromotion, 0.6, kSize, 0.4},
    {"refund_amount_30d", amount, 2.0, 1.3, kSize, 0.5, kQuality, -0.4, 0.1},
    {"menu_items", count, 3.8, 0.6, kSize, 0.4, kAffluence, -0.1},
    {"staff_count", count, 1.6, 0.6, kSize, 0.6, kQuality, 0.1, 0.3, true},
    {"shop_age_days", count, 6.3, 0.9, kLoyalty, 0.4, kSize, 0.2},
    {"competitors_1km", count, 2.3, 0.8, kCompetition, 0.8, kAffluence, 0.0},
    {"population_1km", count, 9.2, 0.9, kCompetition, 0.5, kSize, 0.2},
    {"income_area", amount, 10.2, 0.4, kAffluence, 0.7, kYouth, -0.2},
    {"rent_area", amount, 2.8, 0.5, kAffluence, 0.5, kCompetition, 0.4, 0.12},
    {"photos_count", count, 2.4, 0.9, kQuality, 0.4, kPromotion, 0.2},
    {"reviews_count", count, 4.2, 1.4, kSize, 0.7, kLoyalty, 0.2},
    {"hours_open_week", amount, 4.1, 0.25, kSize, 0.3, kYouth, 0.2},
};

const std::vector<NumberSpec> kShares = {
    {"share_orders_above_price", share, 0.0, 0.5, kAffluence, 0.6, kSize, 0.0},
    {"share_new_customers", share, -1.0, 0.7, kLoyalty, -0.5, kYouth, 0.2},
    {"share_repeat_customers", share, 0.2, 0.7, kLoyalty, 0.7, kQuality, 0.2, 0.03},
    {"share_coupon_orders", share, -1.2, 0.9, kPromotion, 0.6, kAffluence, -0.2},
    {"share_lunch", share, -0.6, 0.6, kAffluence, 0.2, kYouth, -0.2},
    {"share_dinner", share, -0.2, 0.6, kAffluence, 0.1, kYouth, 0.1},
    {"share_night", share, -2.2, 0.9, kYouth, 0.5, kQuality, -0.1, 0.05},
    {"share_weekend", share, -0.7, 0.4, kYouth, 0.2, kAffluence, 0.2},
    {"share_pickup", share, -2.0, 0.9, kCompetition, 0.3, kSize, -0.1, 0.1},
    {"share_cancelled", share, -3.5, 0.7, kQuality, -0.6, kSize, 0.0},
    {"share_late", share, -2.4, 0.8, kQuality, -0.6, kSize, 0.1},
    {"share_complaints", share, -3.8, 0.7, kQuality, -0.7, kSize, 0.0, 0.15, true},
    {"share_app_orders", share, 0.9, 0.6, kYouth, 0.5, kPromotion, 0.1},
    {"share_search_traffic", share, -0.5, 0.6, kLoyalty, 0.3, kPromotion, -0.2},
    {"share_ad_traffic", share, -2.0, 0.9, kPromotion, 0.5, kSize, 0.2},
    {"share_young_customers", share, -0.4, 0.7, kYouth, 0.7, kAffluence, -0.2},
    {"share_students", share, -2.0, 0.9, kYouth, 0.7, kAffluence, -0.3, 0.08},
    {"share_offices", share, -1.0, 0.9, kAffluence, 0.4, kYouth, -0.1, 0.08},
    {"share_price_comparers", share, -0.8, 0.8, kPromotion, 0.4, kLoyalty, -0.3},
    {"share_members", share, -1.1, 0.8, kLoyalty, 0.6, kSize, 0.1},
};

// A flag of spread 1 is set for the share of shops above -centre on the normal scale: -1.28 gives 10 %, -2.33 1 %.
const std::vector<NumberSpec> kFlags = {
    {"is_chain", flag, -0.8, 1.0, kSize, 0.5, kAffluence, 0.1},
    {"is_franchise", flag, -1.5, 1.0, kSize, 0.4, kAffluence, 0.1},
    {"is_exclusive", flag, -1.2, 1.0, kPromotion, 0.4, kSize, 0.1},
    {"is_new_shop", flag, -1.6, 1.0, kLoyalty, -0.5, kSize, -0.3},
    {"has_pickup", flag, 0.3, 1.0, kCompetition, 0.2, kSize, 0.1},
    {"has_own_couriers", flag, -1.4, 1.0, kSize, 0.4, kQuality, 0.2},
    {"has_preorder", flag, -0.5, 1.0, kQuality, 0.3, kSize, 0.2, 0.04},
    {"has_loyalty_program", flag, -0.7, 1.0, kLoyalty, 0.5, kSize, 0.2},
    {"has_photos", flag, 1.2, 1.0, kQuality, 0.4, kSize, 0.2},
    {"has_video", flag, -1.8, 1.0, kPromotion, 0.3, kQuality, 0.3},
    {"has_bundle_menu", flag, 0.0, 1.0, kPromotion, 0.3, kSize, 0.2},
    {"has_free_delivery", flag, -1.0, 1.0, kPromotion, 0.4, kCompetition, 0.2},
    {"has_vegan_menu", flag, -0.9, 1.0, kYouth, 0.4, kAffluence, 0.2},
    {"has_alcohol", flag, -1.0, 1.0, kAffluence, 0.2, kYouth, 0.1, 0.04},
    {"has_late_hours", flag, -0.8, 1.0, kYouth, 0.4, kSize, 0.1},
    {"near_university", flag, -0.9, 1.0, kYouth, 0.5, kCompetition, 0.1},
    {"near_mall", flag, -0.8, 1.0, kCompetition, 0.4, kAffluence, 0.2},
    {"near_station", flag, -0.6, 1.0, kCompetition, 0.4, kSize, 0.1},
    {"in_tourist_area", flag, -1.6, 1.0, kAffluence, 0.3, kLoyalty, -0.3},
    {"verified_licence", flag, 1.7, 1.0, kQuality, 0.4, kSize, 0.2},
    {"manager_certified", flag, -0.2, 1.0, kQuality, 0.4, kSize, 0.1, 0.25},
    {"reopened_recently", flag, -2.33, 1.0, kLoyalty, -0.2, kQuality, -0.1},
};

const std::vector<NumberSpec> kGrades = {
    {"rating", grade, 4.1, 0.5, kQuality, 0.8, kLoyalty, 0.2, 0.04, true},
    {"rating_delivery", grade, 4.0, 0.6, kQuality, 0.6, kCompetition, 0.0, 0.1, true},
    {"rating_packaging", grade, 4.2, 0.5, kQuality, 0.6, kAffluence, 0.1, 0.1, true},
    {"hygiene_grade", grade, 3.8, 0.8, kQuality, 0.5, kSize, 0.1, 0.2},
    {"photo_quality", grade, 3.2, 0.9, kQuality, 0.5, kPromotion, 0.2, 0.15},
};

std::array<NumberSpec, kNumShopNumbers> join_specs() {
  std::vector<NumberSpec> all;
  for (const Activity& activity : kActivities) {
    for (const Window& window : kWindows) {
      all.push_back({activity.name + std::string(window.suffix), activity.kind,
                     activity.log_a_day + std::log(window.days), activity.spread, kSize, window.load_size,
                     activity.second, activity.load_second, window.missing, true});
    }
  }
  for (const auto* group : {&kAmounts, &kShares, &kFlags, &kGrades}) {
    all.insert(all.end(), group->begin(), group->end());
  }
  std::array<NumberSpec, kNumShopNumbers> specs;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    specs[i] = all.at(i);
    specs[i].rest =
        std::sqrt(1.0 - specs[i].load_first * specs[i].load_first - specs[i].load_second * specs[i].load_second);
  }
  return specs;
}

}  // namespace

const std::array<CategorySpec, kNumCategories>& category_specs() {
  static const std::array<CategorySpec, kNumCategories> specs = {{{"city", "city", 60, 1.1, 0.0},
                                                                  {"cuisine", "cuisine", 24, 0.9, 0.01},
                                                                  {"brand_type", "brand", 8, 2.2, 0.0},
                                                                  {"contract", "contract", 5, 1.5, 0.03}}};
  return specs;
}

const std::array<NumberSpec, kNumShopNumbers>& number_specs() {
  static const std::array<NumberSpec, kNumShopNumbers> specs = join_specs();
  return specs;
}

}  // namespace dfcl::simulate
