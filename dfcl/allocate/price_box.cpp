// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/price_box.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dfcl/allocate/passes.h"

namespace dfcl::allocate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Scores of one unit's arms in the middle of the box.
class UnitScorer {
 public:
  UnitScorer(const Problem& problem, const PriceBox& box)
      : problem_(problem),
        box_(box),
        known_(problem.rules.price.empty() ? nullptr : problem.rules.price.data()),
        has_second_(problem.second.cost.data != nullptr),
        has_segments_(!problem.segments.budgets.empty()) {}

  // Writes the best arm, the lower among equals; returns the least factor of the widths at which another may be as
  // good.
  double score(std::size_t unit, std::uint8_t& best_arm) {
    const std::size_t num_arms = problem_.num_arms();
    const std::size_t segment = has_segments_ ? problem_.segments.of_unit[unit] : 0;
    const float* revenue = problem_.revenue.data + unit * num_arms;
    const float* cost = problem_.cost.data + unit * num_arms;
    const float* second = has_second_ ? problem_.second.cost.data + unit * num_arms : nullptr;
    const std::uint8_t* eligible = problem_.eligible.data == nullptr ? nullptr : problem_.eligible.row(unit).data();
    const double price = box_.cost_price[segment];
    std::size_t best = num_arms;
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      if (eligible != nullptr && eligible[arm] == 0) {
        scores_[arm] = -kInfinity;
        continue;
      }
      paid_[arm] = known_ != nullptr ? known_[arm] : static_cast<double>(cost[arm]);
      double score = box_.gain_scale * static_cast<double>(revenue[arm]) - price * paid_[arm];
      if (second != nullptr) score -= box_.second_price * static_cast<double>(second[arm]);
      if (!box_.arm_price.empty()) score -= box_.arm_price[arm];
      scores_[arm] = score;
      if (best == num_arms || score > scores_[best]) best = arm;
    }
    best_arm = static_cast<std::uint8_t>(best);
    const double width = box_.cost_width[segment];
    const double rounding = 1e-12 * (std::abs(scores_[best]) + std::abs(price * paid_[best]));
    double factor = kInfinity;
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      if (arm == best || scores_[arm] == -kInfinity) continue;
      double change = width == kInfinity ? kInfinity : width * std::abs(paid_[best] - paid_[arm]);
      if (second != nullptr) change += box_.second_width * std::abs(static_cast<double>(second[best]) - second[arm]);
      if (!box_.arm_width.empty()) change += box_.arm_width[best] + box_.arm_width[arm];
      const double ahead = scores_[best] - scores_[arm] - rounding;
      if (ahead <= 0.0) return 0.0;
      if (ahead < factor * change) factor = ahead / change;
    }
    return factor;
  }

 private:
  const Problem& problem_;
  const PriceBox& box_;
  const double* known_;
  bool has_second_;
  bool has_segments_;
  std::array<double, kMaxArms> scores_;
  std::array<double, kMaxArms> paid_;
};

}  // namespace

PriceBox PriceBox::widened(double factor) const {
  PriceBox box = *this;
  for (double& width : box.cost_width) width *= factor;
  for (double& width : box.arm_width) width *= factor;
  box.second_width *= factor;
  return box;
}

std::vector<double> opening_factors(const Problem& problem, const PriceBox& box, core::RunContext& context) {
  std::vector<double> factors(problem.num_units());
  context.pool.run(kParts, [&](std::size_t part) {
    UnitScorer scorer(problem, box);
    std::uint8_t arm = 0;
    const std::size_t end = part_begin(factors.size(), part + 1);
    for (std::size_t unit = part_begin(factors.size(), part); unit < end; ++unit)
      factors[unit] = scorer.score(unit, arm);
  });
  return factors;
}

SettledUnits settle_units(const Problem& problem, const PriceBox& box, std::uint8_t* arms, core::RunContext& context) {
  const std::size_t num_units = problem.num_units();
  std::vector<SettledUnits> parts(kParts, SettledUnits{PlanSums(problem), {}});
  context.pool.run(kParts, [&](std::size_t part) {
    context.check_cancelled();
    UnitScorer scorer(problem, box);
    const std::size_t end = part_begin(num_units, part + 1);
    for (std::size_t unit = part_begin(num_units, part); unit < end; ++unit) {
      if (scorer.score(unit, arms[unit]) > 1.0) {
        parts[part].sums.add(problem, unit, arms[unit]);
      } else {
        parts[part].open.push_back(static_cast<std::uint32_t>(unit));
      }
    }
  });
  SettledUnits settled{PlanSums(problem), {}};
  for (const SettledUnits& part : parts) {
    settled.sums.add(part.sums);
    settled.open.insert(settled.open.end(), part.open.begin(), part.open.end());
  }
  return settled;
}

}  // namespace dfcl::allocate
