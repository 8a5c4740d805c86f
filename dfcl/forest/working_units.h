// SPDX-License-Identifier: Apache-2.0
//
// The outcomes as the trees see them. Each outcome y has a base m(x), fitted without the unit's own outcome. Under the
// difference link the working response is y - m; under the ratio link (eq. 4b) it is y / m - 1, so that an effect is a
// ratio to the base and the largest units do not decide every split. A unit counts with the weight that its noise
// deserves: under the ratio link the variance of y is taken as dispersion x m + excess x m^2, both estimated, hence the
// weight m / (dispersion + excess x m). The two outcomes share one weight, the harmonic mean of theirs (that of revenue
// where costs are known), times the inverse propensity.
//
// All sums over units that a forest needs (weight, weight x response) are sums of whole numbers: the values are rounded
// to steps so small that the sum over all units just fits 32 bits. So sums do not depend on their order, and a
// parent less a child is exactly the sibling. Memory: 17 bytes a unit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/core/run_context.h"

namespace dfcl::forest {

enum class Link : std::uint8_t { difference = 0, ratio = 1 };

// What was seen of the training units, one entry each.
struct SeenOutcomes {
  std::span<const std::uint8_t> arm;
  std::span<const float> revenue;
  std::span<const float> cost;
  std::span<const float> base_revenue;  // m(x), fitted on other units
  std::span<const float> base_cost;
  std::span<const float> inverse_propensity;  // empty: all alike
  std::size_t num_arms = 0;
  std::size_t control = 0;
  Link revenue_link = Link::difference;
  Link cost_link = Link::difference;
  bool cost_is_known = false;  // then units count by the noise of revenue alone
};

// Four sums over units of one arm: weight x response of revenue and of cost, weight, and the number of units. Aligned,
// so that adding two is one instruction.
struct alignas(16) Sums {
  std::int32_t revenue = 0;
  std::int32_t cost = 0;
  std::int32_t weight = 0;
  std::int32_t units = 0;
  bool operator==(const Sums&) const = default;
};

struct WorkingUnits {
  std::size_t num_arms = 0;
  std::size_t control = 0;
  std::vector<Sums> sums;         // of one unit each
  std::vector<std::uint8_t> arm;  // per unit
  double revenue_step = 1.0;      // weight x response of revenue is this times Sums::revenue; likewise below
  double cost_step = 1.0;
  double weight_step = 1.0;
  // Inverse mean squares of the pseudo-outcomes of each arm's effect over all units, for the two outcomes: what makes
  // currencies and arms comparable. Zero for control, and where an outcome does not vary. In steps.
  std::vector<std::array<double, 2>> inverse_spread;
  // How much of the criterion of a split lies along the sum of the pseudo-outcomes, by which levels of a category are
  // put in order, where no effect differs: |C 1|^2 / (1' C 1) of their correlations C. 1 where they are independent.
  double share_along_sum = 1.0;
};

// The least base that a unit is given under the ratio link, as a share of the mean outcome.
inline constexpr double kLeastBase = 1e-4;

WorkingUnits make_working_units(const SeenOutcomes& seen, core::RunContext& context);

}  // namespace dfcl::forest
