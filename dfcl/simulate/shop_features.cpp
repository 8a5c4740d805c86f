// SPDX-License-Identifier: Apache-2.0
#include "dfcl/simulate/shop_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dfcl/core/random.h"
#include "dfcl/simulate/normals.h"
#include "dfcl/simulate/shop_catalogue.h"

namespace dfcl::simulate {
namespace {

constexpr std::uint32_t kShopPurpose = core::stream_purpose("simulate shop");
constexpr std::uint32_t kDayPurpose = core::stream_purpose("simulate shop day");
constexpr std::uint32_t kWeatherPurpose = core::stream_purpose("simulate weather");
constexpr std::uint32_t kMissingPurpose = core::stream_purpose("simulate missing");

constexpr std::array<std::string_view, kNumDayNumbers> kDayNames = {"weekday", "is_weekend",    "temperature",
                                                                    "rain_mm", "traffic_index", "competitor_discount"};
constexpr float kMissingValue = std::numeric_limits<float>::quiet_NaN();

double round_to(double value, double step_inverse) { return std::floor(value * step_inverse + 0.5) / step_inverse; }

double value_of(const NumberSpec& spec, double score) {
  const double x = spec.centre + spec.spread * score;
  switch (spec.kind) {
    case NumberKind::amount: return round_to(std::exp(x), 100.0);
    case NumberKind::count: return std::floor(std::exp(x) + 0.5);
    case NumberKind::share: return round_to(1.0 / (1.0 + std::exp(-x)), 1000.0);
    case NumberKind::flag: return x > 0.0 ? 1.0 : 0.0;
    case NumberKind::grade: return round_to(std::clamp(x, 1.0, 5.0), 10.0);
  }
  return 0.0;
}

}  // namespace

ShopFeatures::ShopFeatures() {
  for (std::size_t category = 0; category < kNumCategories; ++category) {
    const CategorySpec& spec = category_specs()[category];
    columns_.push_back({std::string(spec.name), data::ColumnType::text});
    double total = 0.0;
    for (std::size_t level = 0; level < spec.num_levels; ++level) {
      total += std::pow(static_cast<double>(level + 1), -spec.decay);
      level_bounds_[category].push_back(total);
      level_names_[category].push_back(fmt::format("{}_{:02d}", spec.level_stem, level + 1));
    }
    for (double& bound : level_bounds_[category]) bound /= total;
  }
  for (const NumberSpec& spec : number_specs()) columns_.push_back({spec.name, data::ColumnType::float32});
  for (const std::string_view name : kDayNames) columns_.push_back({std::string(name), data::ColumnType::float32});
}

std::size_t ShopFeatures::score_index(std::string_view name) const {
  const auto& specs = number_specs();
  return static_cast<std::size_t>(
      std::find_if(specs.begin(), specs.end(), [&](const NumberSpec& spec) { return spec.name == name; }) -
      specs.begin());
}

ShopDay ShopFeatures::draw(std::uint64_t seed, UnitKey key, bool has_days, double shift) const {
  ShopDay shop;
  core::RandomStream shop_stream(seed, kShopPurpose, key.unit);
  Normals normals(shop_stream);
  for (double& trait : shop.traits) trait = normals.next();
  shop.traits[kYouth] += shift;
  shop.traits[kPromotion] += shift;
  shop.traits[kAffluence] -= shift;
  shop.unobserved = normals.next();
  const auto& specs = number_specs();
  for (std::size_t i = 0; i < kNumShopNumbers; ++i) {
    const NumberSpec& spec = specs[i];
    shop.scores[i] = spec.load_first * shop.traits[spec.first] + spec.load_second * shop.traits[spec.second] +
                     spec.rest * normals.next();
  }
  for (std::size_t category = 0; category < kNumCategories; ++category) {
    const std::vector<double>& bounds = level_bounds_[category];
    const auto place = std::upper_bound(bounds.begin(), bounds.end() - 1, shop_stream.uniform());
    shop.levels[category] = static_cast<std::uint8_t>(place - bounds.begin());
  }

  core::RandomStream day_stream(seed, kDayPurpose, key.row_index());
  core::RandomStream weather_stream(seed, kWeatherPurpose, has_days ? key.day : key.unit);
  const auto weekday = has_days ? static_cast<double>(key.day % 7) : static_cast<double>(weather_stream.below(7));
  Normals weather(weather_stream);
  Normals own(day_stream);
  shop.competitor_discount_score = own.next();
  shop.day_numbers[kWeekday] = weekday;
  shop.day_numbers[kIsWeekend] = weekday >= 5.0 ? 1.0 : 0.0;
  shop.day_numbers[kTemperature] = round_to(14.0 + 6.0 * weather.next() + 1.5 * own.next(), 10.0);
  shop.day_numbers[kRain] = round_to(std::max(0.0, 6.0 * (weather.next() + 0.3 * own.next()) - 3.0), 10.0);
  shop.day_numbers[kTraffic] = round_to(std::exp(0.3 * own.next() + 0.1 * weekday), 100.0);
  shop.day_numbers[kCompetitorDiscountRate] = round_to(12.0 + 4.0 * shop.competitor_discount_score, 10.0);
  return shop;
}

double ShopFeatures::shown_value(std::size_t place, double score) { return value_of(number_specs()[place], score); }

std::vector<data::ColumnValues> ShopFeatures::make_columns(std::size_t num_rows) const {
  std::vector<data::ColumnValues> columns;
  columns.reserve(kNumShopFeatures);
  for (const data::ColumnInfo& column : columns_) {
    if (column.type == data::ColumnType::text) {
      columns.emplace_back(data::TextColumn());
    } else {
      columns.emplace_back(std::vector<float>(num_rows));
    }
  }
  return columns;
}

void ShopFeatures::write_row(std::uint64_t seed, UnitKey key, const ShopDay& shop, std::size_t row,
                             std::vector<data::ColumnValues>& columns) const {
  // What a shop leaves out it leaves out every day.
  core::RandomStream missing_stream(seed, kMissingPurpose, key.unit);
  const double smallness = 2.0 / (1.0 + std::exp(1.5 * shop.traits[kSize]));  // 0 to 2, mean 1
  for (std::size_t category = 0; category < kNumCategories; ++category) {
    const bool missing = missing_stream.uniform() < category_specs()[category].missing;
    std::get<data::TextColumn>(columns[category])
        .push_back(missing ? std::string_view() : level_names_[category][shop.levels[category]]);
  }
  const auto& specs = number_specs();
  for (std::size_t i = 0; i < kNumShopNumbers; ++i) {
    const NumberSpec& spec = specs[i];
    const double rate = spec.missing * (spec.missing_when_small ? smallness : 1.0);
    const bool missing = rate > 0.0 && missing_stream.uniform() < rate;
    std::get<std::vector<float>>(columns[kNumCategories + i])[row] =
        missing ? kMissingValue : static_cast<float>(value_of(spec, shop.scores[i]));
  }
  for (std::size_t i = 0; i < kNumDayNumbers; ++i) {
    std::get<std::vector<float>>(columns[kNumCategories + kNumShopNumbers + i])[row] =
        static_cast<float>(shop.day_numbers[i]);
  }
}

}  // namespace dfcl::simulate
