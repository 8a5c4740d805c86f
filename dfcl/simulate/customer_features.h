// SPDX-License-Identifier: Apache-2.0
//
// The 37 features of a customer, preset varied: seven text categories (three to 400 levels) and 30 numbers that follow
// from six latent traits and noise. Amounts, distances and balances have heavy tails, and a third of the columns have
// holes, some of which say something: who never rated has no rating. About 2 microseconds a row, no memory of its own.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dfcl/data/batch.h"
#include "dfcl/simulate/unit_model.h"

namespace dfcl::simulate {

enum CustomerTrait : std::uint8_t {
  kActivity,
  kWealth,
  kThrift,
  kEngagement,
  kSeniority,
  kAttachment,
  kNumCustomerTraits
};

// In the order of customer_numbers() and of the columns after the categories.
enum CustomerNumber : std::size_t {
  kSpendYear,
  kSpendMonth,
  kOrdersYear,
  kOrdersMonth,
  kVisitsMonth,
  kDaysSinceOrder,
  kTenureDays,
  kMeanBasket,
  kReturnsYear,
  kCouponsUsed,
  kDiscountShare,
  kOpenedShare,
  kAppMinutes,
  kAge,
  kHousehold,
  kDistanceKm,
  kIncomeOfArea,
  kLastRating,
  kComplaints,
  kBalance,
  kPartnerScore,
  kNightShare,
  kMobileShare,
  kRegularPriceShare,
  kSupportCalls,
  kLocalWeather,
  kPanelScore,
  kIsMember,
  kIsStudent,
  kHasNewsletter,
  kNumCustomerNumbers
};

enum CustomerCategory : std::size_t {
  kRegion,
  kChannel,
  kTariff,
  kPayment,
  kSource,
  kStore,
  kProductGroup,
  kNumCustomerCategories
};

inline constexpr std::size_t kNumCustomerFeatures =
    std::size_t{kNumCustomerCategories} + std::size_t{kNumCustomerNumbers};
static_assert(kNumCustomerFeatures == 37);

struct Customer {
  std::array<double, kNumCustomerTraits> traits;
  double unobserved;                                         // shown by no feature; normal
  std::array<double, kNumCustomerNumbers> scores;            // normal, sd 1, before they become amounts, shares, flags
  std::array<bool, kNumCustomerNumbers> missing;             // what the trial does not show
  std::array<std::uint16_t, kNumCustomerCategories> levels;  // codes
  std::array<bool, kNumCustomerCategories> level_missing;
  // Whether a flag (newsletter, member, student) is set.
  bool flag(CustomerNumber number) const;
};

class CustomerFeatures {
 public:
  CustomerFeatures();

  const std::vector<data::ColumnInfo>& columns() const { return columns_; }
  std::size_t num_levels(CustomerCategory category) const { return level_names_[category].size(); }

  Customer draw(std::uint64_t seed, std::uint64_t unit) const;
  std::vector<data::ColumnValues> make_columns(std::size_t num_rows) const;
  // Writes one row into columns made by make_columns.
  void write_row(const Customer& customer, std::size_t row, std::vector<data::ColumnValues>& columns) const;

 private:
  std::vector<data::ColumnInfo> columns_;
  std::array<std::vector<double>, kNumCustomerCategories> level_bounds_;  // cumulative shares
  std::array<std::vector<std::string>, kNumCustomerCategories> level_names_;
};

}  // namespace dfcl::simulate
