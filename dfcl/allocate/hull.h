// SPDX-License-Identifier: Apache-2.0
//
// The upper hull of one unit's (cost, revenue) points (eq. 3) and the order of all units' increments, which is the
// path: falling efficiency, then the keys of the units, which are hashes of their ids (row numbers where there are
// none). Efficiencies are float64 quotients and fall strictly along a hull, so (efficiency, key) names an increment.
// About 50 ns for five arms.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "dfcl/allocate/allocate.h"

namespace dfcl::allocate {

__extension__ using UnsignedWide = unsigned __int128;

// Some units in a row; first_unit is the index of the first in the whole problem.
struct Units {
  core::MatrixView<const float> revenue;
  core::MatrixView<const float> cost;
  core::MatrixView<const std::uint8_t> eligible;
  std::size_t first_unit = 0;
  UnitKeys keys = {};  // empty: the index of the unit

  std::uint64_t key(std::size_t row) const { return keys.empty() ? first_unit + row : keys[row]; }
  std::size_t size() const { return revenue.rows; }
  const std::uint8_t* eligible_row(std::size_t row) const {
    return eligible.data == nullptr ? nullptr : eligible.data + row * eligible.cols;
  }
};

struct HullPoint {
  double cost;  // a float32 number, or the arm's price
  float revenue;
  std::uint8_t arm;
};

struct Hull {
  std::size_t size;                // at least 1
  std::size_t size_at_any_return;  // without the least return per cost
  std::array<HullPoint, kMaxArms> points;
  std::array<double, kMaxArms> efficiency;  // of the increment that ends at the point; none for the first
};

struct Prices;

// The unit of an increment that came from elsewhere, where row numbers mean nothing: its key names it.
inline constexpr std::uint32_t kUnitElsewhere = 0xffffffffu;

// One step along a hull.
struct Increment {
  double efficiency;  // revenue per cost
  std::uint64_t key;
  double previous;  // efficiency of the unit's increment before this one; infinite: this is its first
  float cost_from, cost_to;
  float revenue_from, revenue_to;
  std::uint32_t unit;
  std::uint8_t arm_from, arm_to;

  bool is_first() const { return std::isinf(previous); }
  double extra_revenue() const { return static_cast<double>(revenue_to) - revenue_from; }
  inline double extra_cost(const Prices& prices) const;
};

// A place on the path; smaller is earlier. 127 bits: the efficiency, falling, then the key.
using PathPosition = UnsignedWide;
inline constexpr int kPositionBits = 127;
inline constexpr PathPosition kPathEnd = PathPosition{1} << kPositionBits;

inline PathPosition position_of(double efficiency, std::uint64_t key) {  // efficiency > 0, finite
  const std::uint64_t falling = 0x7ff0000000000000u - std::bit_cast<std::uint64_t>(efficiency);
  return (static_cast<PathPosition>(falling) << 64) | key;
}
inline PathPosition position_of(const Increment& increment) { return position_of(increment.efficiency, increment.key); }
inline bool before(const Increment& a, const Increment& b) {
  if (a.efficiency != b.efficiency) return a.efficiency > b.efficiency;
  return a.key != b.key ? a.key < b.key : a.unit < b.unit;
}

// The objective in terms of revenue per cost: profit m*r - c has the hull of r, at other prices.
struct Prices {
  explicit Prices(const Rules& rules);
  // Known costs per arm; null where costs are predicted.
  const double* known() const { return price.empty() ? nullptr : price.data(); }
  double value(double revenue, double spend) const { return profit ? margin * revenue - spend : revenue; }
  // Value per cost of an increment with this efficiency.
  double multiplier(double efficiency) const { return profit ? margin * efficiency - 1.0 : efficiency; }
  // The largest efficiency that is not worth this multiplier.
  double efficiency(double multiplier) const;

  bool profit;
  double margin;
  double least_efficiency;  // > 0: increments below it are not worth taking
  double any_efficiency;    // > 0: the same without the least return per cost
  std::vector<double> price;
  // The prices as whole numbers of 1 / price_scale, a power of ten (0: they are no decimal numbers), so that three
  // times 0.1 are 0.3.
  std::vector<std::int64_t> decimal_price;
  double price_scale = 0.0;
};

inline double Increment::extra_cost(const Prices& prices) const {
  const double* known = prices.known();
  return known != nullptr ? known[arm_to] - known[arm_from] : static_cast<double>(cost_to) - cost_from;
}

// Ends the run: the unit has a number that is not finite, or no arm that it may get.
[[noreturn]] void throw_bad_unit(const Units& units, std::size_t row);
// Ends the run: the cost of a unit is not the arm's known price.
[[noreturn]] void throw_other_price(const Units& units, std::size_t row, std::size_t arm, double price);

// The hull of a unit down to the least efficiency.
inline void build_hull(const Units& units, std::size_t row, const Prices& prices, Hull& hull) {
  const std::size_t num_arms = units.revenue.cols;
  const float* revenue = units.revenue.data + row * num_arms;
  const float* cost = units.cost.data + row * num_arms;
  const std::uint8_t* eligible = units.eligible_row(row);
  const double* known = prices.known();
  // Sorted by cost, the more valuable first among equals, then the lower arm.
  std::array<HullPoint, kMaxArms> sorted;
  std::size_t count = 0;
  float finite = 0.0f;  // NaN once a number is not finite
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    if (eligible != nullptr && eligible[arm] == 0) continue;
    const HullPoint point{known == nullptr ? static_cast<double>(cost[arm]) : known[arm], revenue[arm],
                          static_cast<std::uint8_t>(arm)};
    finite += 0.0f * (cost[arm] + 0.0f * revenue[arm]);
    if (known != nullptr && cost[arm] != static_cast<float>(known[arm])) throw_other_price(units, row, arm, known[arm]);
    std::size_t place = count++;
    while (place > 0 && (point.cost < sorted[place - 1].cost ||
                         (point.cost == sorted[place - 1].cost && point.revenue > sorted[place - 1].revenue))) {
      sorted[place] = sorted[place - 1];
      --place;
    }
    sorted[place] = point;
  }
  if (count == 0 || finite != 0.0f) throw_bad_unit(units, row);
  hull.points[0] = sorted[0];
  std::size_t size = 1;
  for (std::size_t i = 1; i < count; ++i) {
    const HullPoint& point = sorted[i];
    if (point.revenue <= hull.points[size - 1].revenue) continue;
    const auto efficiency_from = [&](const HullPoint& from) {
      return (static_cast<double>(point.revenue) - from.revenue) / (point.cost - from.cost);
    };
    double efficiency = efficiency_from(hull.points[size - 1]);
    while (size > 1 && efficiency >= hull.efficiency[size - 1]) {
      --size;
      efficiency = efficiency_from(hull.points[size - 1]);
    }
    hull.points[size] = point;
    hull.efficiency[size] = efficiency;
    ++size;
  }
  while (size > 1 && hull.efficiency[size - 1] < prices.any_efficiency) --size;
  hull.size_at_any_return = size;
  while (size > 1 && hull.efficiency[size - 1] < prices.least_efficiency) --size;
  hull.size = size;
}

inline Increment increment_of(const Hull& hull, std::size_t point, std::size_t unit, std::uint64_t key) {
  const HullPoint& from = hull.points[point - 1];
  const HullPoint& to = hull.points[point];
  return {hull.efficiency[point],
          key,
          point > 1 ? hull.efficiency[point - 1] : std::numeric_limits<double>::infinity(),
          static_cast<float>(from.cost),
          static_cast<float>(to.cost),
          from.revenue,
          to.revenue,
          static_cast<std::uint32_t>(unit),
          from.arm,
          to.arm};
}

// How many points of the hull lie before the position: the last of them is the unit's choice there.
inline std::size_t points_before(const Hull& hull, std::uint64_t key, PathPosition position) {
  std::size_t points = 1;
  while (points < hull.size && position_of(hull.efficiency[points], key) < position) ++points;
  return points;
}

}  // namespace dfcl::allocate
