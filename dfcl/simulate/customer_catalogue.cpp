// SPDX-License-Identifier: Apache-2.0
#include "dfcl/simulate/customer_catalogue.h"

namespace dfcl::simulate {

using enum CustomerNumberKind;

const std::array<CustomerCategorySpec, kNumCustomerCategories>& customer_categories() {
  static constexpr std::array<CustomerCategorySpec, kNumCustomerCategories> specs = {{
      {"region", "region", 6, 0.5, 0.0},
      {"channel", "channel", 4, 0.6, 0.0},
      {"tariff", "tariff", 3, 0.5, 0.02},
      {"payment", "payment", 5, 0.7, 0.03},
      {"source", "source", 25, 0.8, 0.2},
      {"store", "store", 120, 0.6, 0.0},
      {"product_group", "group", 400, 0.9, 0.05},
  }};
  return specs;
}

const std::array<CustomerNumberSpec, kNumCustomerNumbers>& customer_numbers() {
  static constexpr std::array<CustomerNumberSpec, kNumCustomerNumbers> specs = {{
      {"spend_12m", amount, 5.6, 1.3, kActivity, 0.8, kWealth, 0.4},
      {"spend_30d", amount, 3.0, 1.5, kActivity, 0.75, kWealth, 0.3},
      {"orders_12m", count, 2.2, 1.0, kActivity, 0.85, kAttachment, 0.1},
      {"orders_30d", count, 0.2, 1.0, kActivity, 0.7, kAttachment, 0.1},
      {"visits_30d", count, 1.6, 1.2, kActivity, 0.5, kEngagement, 0.5},
      {"days_since_order", count, 3.0, 1.2, kActivity, -0.5, kAttachment, -0.2},
      {"tenure_days", count, 6.4, 0.9, kAttachment, 0.6, kSeniority, 0.2},
      {"mean_basket", amount, 3.2, 0.5, kWealth, 0.6, kThrift, -0.2},
      {"returns_12m", count, 0.0, 1.1, kActivity, 0.5, kThrift, 0.1},
      {"coupons_used_12m", count, 0.5, 1.1, kThrift, 0.6, kActivity, 0.3},
      {"discount_share", share, -0.8, 1.0, kThrift, 0.7, kWealth, -0.2},
      {"mails_opened_share", share, -0.5, 1.2, kEngagement, 0.7, kAttachment, 0.1, 0.15, 1.0},
      {"app_minutes_30d", amount, 2.0, 1.6, kEngagement, 0.6, kSeniority, -0.4, 0.3, 1.5},
      {"age", years, 45.0, 14.0, kSeniority, 0.8, kWealth, 0.1, 0.12},
      {"household_size", count, 0.8, 0.4, kSeniority, 0.2, kWealth, 0.0, 0.1},
      {"distance_km", distance, 1.0, 1.5, kActivity, -0.2, kWealth, 0.1},
      {"income_of_area", amount, 10.3, 0.4, kWealth, 0.7, kSeniority, 0.1, 0.08, -1.0},
      {"last_rating", grade, 3.9, 0.8, kAttachment, 0.4, kEngagement, 0.2, 0.35, 1.5},
      {"complaints_12m", count, -1.0, 1.3, kAttachment, -0.3, kActivity, 0.3},
      {"balance", balance, 40.0, 1.5, kWealth, 0.4, kThrift, 0.2, 0.05},
      {"partner_score", share, 0.0, 1.0, kWealth, 0.3, kAttachment, 0.3, 0.4},
      {"night_share", share, -1.6, 1.0, kSeniority, -0.4, kEngagement, 0.2},
      {"mobile_share", share, 0.4, 1.2, kEngagement, 0.4, kSeniority, -0.4, 0.04},
      {"regular_price_share", share, 0.4, 0.8, kThrift, -0.5, kWealth, 0.2},
      {"support_calls_12m", count, -0.8, 1.1, kAttachment, -0.2, kActivity, 0.2, 0.1},
      {"local_weather", balance, 5.0, 0.8, kActivity, 0.0, kWealth, 0.0},
      {"panel_score", share, 0.0, 0.8, kActivity, 0.0, kWealth, 0.0, 0.25},
      {"is_member", flag, -0.4, 1.0, kAttachment, 0.5, kActivity, 0.2},
      {"is_student", flag, -1.5, 1.0, kSeniority, -0.6, kWealth, -0.2},
      {"has_newsletter", flag, 0.2, 1.0, kEngagement, 0.6, kAttachment, 0.1},
  }};
  return specs;
}

}  // namespace dfcl::simulate
