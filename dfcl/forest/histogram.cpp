// SPDX-License-Identifier: Apache-2.0
#include "dfcl/forest/histogram.h"

#include <algorithm>
#include <array>

namespace dfcl::forest {
namespace {

// Four whole numbers that are added at once.
using Lanes [[gnu::vector_size(16), gnu::may_alias]] = std::int32_t;
static_assert(sizeof(Lanes) == sizeof(Sums));

constexpr std::size_t kTileUnits = 2048;
constexpr std::size_t kColumnBytes = kTileUnits + 64;  // no power of two, so that columns do not share cache sets
constexpr std::size_t kPrefetchAhead = 24;             // units
// Features counted side by side, so that additions to one sum do not wait for each other.
constexpr std::size_t kTogether = 4;

template <std::size_t Count>
void count_features(const std::array<const std::uint8_t*, kTogether>& columns, const std::array<Sums*, kTogether>& sums,
                    std::size_t num_units, const Sums* unit_sums, const std::uint8_t* unit_arm, std::size_t num_arms) {
  for (std::size_t i = 0; i < num_units; ++i) {
    const std::size_t arm = unit_arm[i];
    const Lanes own = reinterpret_cast<const Lanes&>(unit_sums[i]);
    for (std::size_t k = 0; k < Count; ++k) {
      reinterpret_cast<Lanes&>(sums[k][columns[k][i] * num_arms + arm]) += own;
    }
  }
}

}  // namespace

struct Histogram::Tile {
  explicit Tile(std::size_t num_features) : bins(num_features * kColumnBytes) {}
  std::size_t size = 0;
  std::array<Sums, kTileUnits> sums;
  std::array<std::uint8_t, kTileUnits> arm;
  std::vector<std::uint8_t> bins;

  void gather(const UnitRecords& records, std::span<const std::uint32_t> units,
              std::span<const std::uint32_t> features) {
    size = units.size();
    for (std::size_t i = 0; i < size; ++i) {
      if (i + kPrefetchAhead < size) records.prefetch(units[i + kPrefetchAhead]);
      const std::uint32_t unit = units[i];
      sums[i] = records.sums(unit);
      arm[i] = records.arm(unit);
      const std::uint8_t* own = records.bins(unit);
      for (std::size_t k = 0; k < features.size(); ++k) bins[k * kColumnBytes + i] = own[features[k]];
    }
  }
};

void Histogram::count(const Tile& tile, std::size_t num_arms) {
  for (std::size_t place = 0; place < features_.size(); place += kTogether) {
    const std::size_t count = std::min(kTogether, features_.size() - place);
    std::array<const std::uint8_t*, kTogether> columns{};
    std::array<Sums*, kTogether> sums{};
    for (std::size_t k = 0; k < count; ++k) {
      columns[k] = tile.bins.data() + (place + k) * kColumnBytes;
      sums[k] = sums_.data() + first_[place + k];
    }
    switch (count) {
      case 4: count_features<4>(columns, sums, tile.size, tile.sums.data(), tile.arm.data(), num_arms); break;
      case 3: count_features<3>(columns, sums, tile.size, tile.sums.data(), tile.arm.data(), num_arms); break;
      case 2: count_features<2>(columns, sums, tile.size, tile.sums.data(), tile.arm.data(), num_arms); break;
      default: count_features<1>(columns, sums, tile.size, tile.sums.data(), tile.arm.data(), num_arms);
    }
  }
}

void Histogram::fill(const UnitRecords& records, std::span<const std::size_t> bins_of_feature, std::size_t num_arms,
                     std::span<const std::uint32_t> units, std::span<const std::uint32_t> features) {
  features_.assign(features.begin(), features.end());
  first_.assign(1, 0);
  for (const std::uint32_t feature : features) first_.push_back(first_.back() + bins_of_feature[feature] * num_arms);
  sums_.assign(first_.back(), Sums{});
  Tile tile(features.size());
  for (std::size_t first = 0; first < units.size(); first += kTileUnits) {
    tile.gather(records, units.subspan(first, std::min(kTileUnits, units.size() - first)), features);
    count(tile, num_arms);
  }
}

void Histogram::subtract(const Histogram& other) {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    reinterpret_cast<Lanes&>(sums_[i]) -= reinterpret_cast<const Lanes&>(other.sums_[i]);
  }
}

}  // namespace dfcl::forest
