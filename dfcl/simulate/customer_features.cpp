// SPDX-License-Identifier: Apache-2.0
#include "dfcl/simulate/customer_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "dfcl/core/random.h"
#include "dfcl/simulate/customer_catalogue.h"
#include "dfcl/simulate/normals.h"

namespace dfcl::simulate {
namespace {

constexpr std::uint32_t kCustomerPurpose = core::stream_purpose("simulate customer");
constexpr std::uint32_t kHolesPurpose = core::stream_purpose("simulate customer holes");
constexpr float kMissingValue = std::numeric_limits<float>::quiet_NaN();

double round_to(double value, double step_inverse) { return std::floor(value * step_inverse + 0.5) / step_inverse; }

double value_of(const CustomerNumberSpec& spec, double score) {
  const double x = spec.centre + spec.spread * score;
  switch (spec.kind) {
    case CustomerNumberKind::amount: return round_to(std::exp(x), 100.0);
    case CustomerNumberKind::count: return std::floor(std::exp(x) + 0.5);
    case CustomerNumberKind::share: return round_to(1.0 / (1.0 + std::exp(-x)), 1000.0);
    case CustomerNumberKind::flag: return x > 0.0 ? 1.0 : 0.0;
    case CustomerNumberKind::grade: return round_to(std::clamp(x, 1.0, 5.0), 2.0);
    case CustomerNumberKind::years: return std::floor(std::clamp(x, 16.0, 99.0));
    case CustomerNumberKind::distance: {
      const double above = 0.5 * std::erfc(score / std::numbers::sqrt2);  // share of customers nearer to the tail
      return round_to(spec.centre * std::pow(above, -1.0 / spec.spread), 10.0);
    }
    case CustomerNumberKind::balance: return round_to(spec.centre * std::sinh(spec.spread * score), 100.0);
  }
  return 0.0;
}

// 0 to 2, mean 1: how much more often than on average a customer with this much of the trait leaves a value out.
double leaning(double lean, double trait) { return lean == 0.0 ? 1.0 : 2.0 / (1.0 + std::exp(lean * trait)); }

}  // namespace

bool Customer::flag(CustomerNumber number) const { return value_of(customer_numbers()[number], scores[number]) > 0.0; }

CustomerFeatures::CustomerFeatures() {
  for (std::size_t category = 0; category < kNumCustomerCategories; ++category) {
    const CustomerCategorySpec& spec = customer_categories()[category];
    columns_.push_back({std::string(spec.name), data::ColumnType::text});
    double total = 0.0;
    for (std::size_t level = 0; level < spec.num_levels; ++level) {
      total += std::pow(static_cast<double>(level + 1), -spec.decay);
      level_bounds_[category].push_back(total);
      level_names_[category].push_back(fmt::format("{}_{:03d}", spec.level_stem, level + 1));
    }
    for (double& bound : level_bounds_[category]) bound /= total;
  }
  for (const CustomerNumberSpec& spec : customer_numbers()) {
    columns_.push_back({std::string(spec.name), data::ColumnType::float32});
  }
}

Customer CustomerFeatures::draw(std::uint64_t seed, std::uint64_t unit) const {
  Customer customer;
  core::RandomStream stream(seed, kCustomerPurpose, unit);
  core::RandomStream holes(seed, kHolesPurpose, unit);
  Normals normals(stream);
  for (double& trait : customer.traits) trait = normals.next();
  customer.unobserved = normals.next();
  for (std::size_t i = 0; i < kNumCustomerNumbers; ++i) {
    const CustomerNumberSpec& spec = customer_numbers()[i];
    const double rest = std::sqrt(1.0 - spec.load_first * spec.load_first - spec.load_second * spec.load_second);
    const double trait = customer.traits[spec.first];
    customer.scores[i] =
        spec.load_first * trait + spec.load_second * customer.traits[spec.second] + rest * normals.next();
    customer.missing[i] = spec.missing > 0.0 && holes.uniform() < spec.missing * leaning(spec.missing_lean, trait);
  }
  for (std::size_t category = 0; category < kNumCustomerCategories; ++category) {
    const std::vector<double>& bounds = level_bounds_[category];
    const auto place = std::upper_bound(bounds.begin(), bounds.end() - 1, stream.uniform());
    customer.levels[category] = static_cast<std::uint16_t>(place - bounds.begin());
    customer.level_missing[category] = holes.uniform() < customer_categories()[category].missing;
  }
  return customer;
}

std::vector<data::ColumnValues> CustomerFeatures::make_columns(std::size_t num_rows) const {
  std::vector<data::ColumnValues> columns;
  columns.reserve(kNumCustomerFeatures);
  for (std::size_t i = 0; i < kNumCustomerCategories; ++i) columns.emplace_back(data::TextColumn());
  for (std::size_t i = 0; i < kNumCustomerNumbers; ++i) columns.emplace_back(std::vector<float>(num_rows));
  return columns;
}

void CustomerFeatures::write_row(const Customer& customer, std::size_t row,
                                 std::vector<data::ColumnValues>& columns) const {
  for (std::size_t category = 0; category < kNumCustomerCategories; ++category) {
    std::get<data::TextColumn>(columns[category])
        .push_back(customer.level_missing[category] ? std::string_view()
                                                    : level_names_[category][customer.levels[category]]);
  }
  for (std::size_t i = 0; i < kNumCustomerNumbers; ++i) {
    std::get<std::vector<float>>(columns[kNumCustomerCategories + i])[row] =
        customer.missing[i] ? kMissingValue : static_cast<float>(value_of(customer_numbers()[i], customer.scores[i]));
  }
}

}  // namespace dfcl::simulate
