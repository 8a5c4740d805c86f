// SPDX-License-Identifier: Apache-2.0
//
// The 107 features of a shop on a day: four text categories, 97 numbers that follow from seven latent traits of the
// shop and noise, and six numbers that move from day to day. About 3 microseconds a row, no memory of its own.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dfcl/data/batch.h"
#include "dfcl/simulate/unit_model.h"

namespace dfcl::simulate {

enum Trait : std::uint8_t { kSize, kAffluence, kLoyalty, kYouth, kQuality, kCompetition, kPromotion, kNumTraits };

inline constexpr std::size_t kNumCategories = 4;
inline constexpr std::size_t kNumShopNumbers = 97;
inline constexpr std::size_t kNumDayNumbers = 6;
inline constexpr std::size_t kNumShopFeatures = kNumCategories + kNumShopNumbers + kNumDayNumbers;
static_assert(kNumShopFeatures == 107);

enum Category : std::size_t { kCity, kCuisineType, kBrandType, kContract };
enum DayNumber : std::size_t { kWeekday, kIsWeekend, kTemperature, kRain, kTraffic, kCompetitorDiscountRate };

struct ShopDay {
  std::array<double, kNumTraits> traits;
  double unobserved;                                // a lasting effect on orders that no feature shows; normal
  std::array<std::uint8_t, kNumCategories> levels;  // codes
  std::array<double, kNumShopNumbers> scores;       // normal, sd 1, before they become amounts, shares, flags
  std::array<double, kNumDayNumbers> day_numbers;
  double competitor_discount_score;  // normal, sd 1
};

class ShopFeatures {
 public:
  ShopFeatures();

  const std::vector<data::ColumnInfo>& columns() const { return columns_; }
  // The place of a number among ShopDay::scores.
  std::size_t score_index(std::string_view name) const;
  std::size_t num_levels(Category category) const { return level_names_[category].size(); }

  // has_days: weekday and weather follow from the day; else each row has a day of its own.
  // shift: SimulatorOptions::population_shift.
  ShopDay draw(std::uint64_t seed, UnitKey key, bool has_days, double shift) const;
  // What the number at this place shows for a score: an amount, a share, a flag.
  static double shown_value(std::size_t place, double score);
  // Writes one row into columns made by make_columns; some values go missing, whatever the arm.
  void write_row(std::uint64_t seed, UnitKey key, const ShopDay& shop, std::size_t row,
                 std::vector<data::ColumnValues>& columns) const;
  std::vector<data::ColumnValues> make_columns(std::size_t num_rows) const;

 private:
  std::vector<data::ColumnInfo> columns_;
  std::array<std::vector<std::string>, kNumCategories> level_names_;
  std::array<std::vector<double>, kNumCategories> level_bounds_;  // running sums of the shares
};

}  // namespace dfcl::simulate
