// SPDX-License-Identifier: Apache-2.0
//
// The upper hull of one unit's (cost, revenue) points (eq. 3) and the order of all units' increments, which is the
// path: falling efficiency, then row order. Efficiencies are float64 quotients and fall strictly along a hull, so
// (efficiency, unit) names an increment. About 50 ns for five arms.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "dfcl/allocate/allocate.h"

namespace dfcl::allocate {

__extension__ using UnsignedWide = unsigned __int128;

// Some units in a row; first_unit is the index of the first in the whole problem.
struct Units {
  core::MatrixView<const float> revenue;
  core::MatrixView<const float> cost;
  core::MatrixView<const std::uint8_t> eligible;
  std::size_t first_unit = 0;

  std::size_t size() const { return revenue.rows; }
  const std::uint8_t* eligible_row(std::size_t row) const {
    return eligible.data == nullptr ? nullptr : eligible.data + row * eligible.cols;
  }
};

struct HullPoint {
  float cost;
  float revenue;
  std::uint8_t arm;
};

struct Hull {
  std::size_t size;  // at least 1
  std::array<HullPoint, kMaxArms> points;
  std::array<double, kMaxArms> efficiency;  // of the increment that ends at the point; none for the first
};

// One step along a hull.
struct Increment {
  double efficiency;  // revenue per cost
  std::uint32_t unit;
  float cost_from, cost_to;
  float revenue_from, revenue_to;
  std::uint8_t arm_from, arm_to;

  double extra_cost() const { return static_cast<double>(cost_to) - cost_from; }
};

// A place on the path; smaller is earlier. 95 bits: the efficiency, falling, then the unit.
using PathPosition = UnsignedWide;
inline constexpr int kPositionBits = 95;

inline PathPosition position_of(double efficiency, std::size_t unit) {  // efficiency > 0, finite
  const std::uint64_t falling = 0x7ff0000000000000u - std::bit_cast<std::uint64_t>(efficiency);
  return (static_cast<PathPosition>(falling) << 32) | static_cast<std::uint32_t>(unit);
}
inline PathPosition position_of(const Increment& increment) {
  return position_of(increment.efficiency, increment.unit);
}
inline bool before(const Increment& a, const Increment& b) {
  return a.efficiency != b.efficiency ? a.efficiency > b.efficiency : a.unit < b.unit;
}

// The objective in terms of revenue per cost: profit m*r - c has the hull of r, at other prices.
struct Prices {
  explicit Prices(const Rules& rules);
  double value(double revenue, double spend) const { return profit ? margin * revenue - spend : revenue; }
  // Value per cost of an increment with this efficiency.
  double multiplier(double efficiency) const { return profit ? margin * efficiency - 1.0 : efficiency; }
  // The largest efficiency that is not worth this multiplier.
  double efficiency(double multiplier) const;

  bool profit;
  double margin;
  double least_efficiency;  // > 0: increments below it are not worth taking
};

// Ends the run: the unit has a number that is not finite, or no arm that it may get.
[[noreturn]] void throw_bad_unit(const Units& units, std::size_t row);

// The hull of a unit down to least_efficiency.
inline void build_hull(const Units& units, std::size_t row, double least_efficiency, Hull& hull) {
  const std::size_t num_arms = units.revenue.cols;
  const float* revenue = units.revenue.data + row * num_arms;
  const float* cost = units.cost.data + row * num_arms;
  const std::uint8_t* eligible = units.eligible_row(row);
  // Sorted by cost, the more valuable first among equals, then the lower arm.
  std::array<HullPoint, kMaxArms> sorted;
  std::size_t count = 0;
  float finite = 0.0f;  // NaN once a number is not finite
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    if (eligible != nullptr && eligible[arm] == 0) continue;
    const HullPoint point{cost[arm], revenue[arm], static_cast<std::uint8_t>(arm)};
    finite += 0.0f * (point.cost + 0.0f * point.revenue);
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
      return (static_cast<double>(point.revenue) - from.revenue) / (static_cast<double>(point.cost) - from.cost);
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
  while (size > 1 && hull.efficiency[size - 1] < least_efficiency) --size;
  hull.size = size;
}

inline Increment increment_of(const Hull& hull, std::size_t point, std::size_t unit) {
  const HullPoint& from = hull.points[point - 1];
  const HullPoint& to = hull.points[point];
  return {hull.efficiency[point],
          static_cast<std::uint32_t>(unit),
          from.cost,
          to.cost,
          from.revenue,
          to.revenue,
          from.arm,
          to.arm};
}

// How many points of the hull lie before the position: the last of them is the unit's choice there.
inline std::size_t points_before(const Hull& hull, std::size_t unit, PathPosition position) {
  std::size_t points = 1;
  while (points < hull.size && position_of(hull.efficiency[points], unit) < position) ++points;
  return points;
}

}  // namespace dfcl::allocate
