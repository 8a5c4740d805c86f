// SPDX-License-Identifier: Apache-2.0
//
// What an evaluation must know of all rows of a trial before it looks at one of them: units and exact sums per arm, and
// how large numbers get. Facts of parts of a trial merge, also as bytes, in any order and from any cut of the rows, to
// the same bytes. About 2 kB an arm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dfcl/core/exact_total.h"
#include "dfcl/data/budgets.h"
#include "dfcl/data/trial.h"
#include "dfcl/evaluate/evaluate.h"

namespace dfcl::evaluate {

// The largest numbers, in size.
struct LargestNumbers {
  double revenue = 0.0;
  double cost = 0.0;
  double weight = 0.0;  // 1 / propensity; 0: there are no propensities
  double nuisance_revenue = 0.0;
  double nuisance_cost = 0.0;
};

class TrialFacts {
 public:
  explicit TrialFacts(std::size_t num_arms) : arms_(num_arms) {}

  // Units of a trial with its arms, of which those of a split are judged. nuisance: of the judged units; may be empty.
  void add(const data::Trial& units, data::Split judged, const Outcomes& nuisance);
  // Throws Error of kind data where the arms or their propensities are others.
  void merge(const TrialFacts& other);

  std::string to_bytes() const;
  // Throws Error of kind data.
  static TrialFacts from_bytes(std::string_view bytes);

  std::size_t num_arms() const { return arms_.size(); }
  std::size_t num_units() const;
  std::size_t num_judged() const;
  std::vector<std::size_t> judged_per_arm() const;
  const LargestNumbers& largest() const { return largest_; }
  bool has_propensity() const { return largest_.weight > 0.0; }
  // As data::arm_costs, of all units.
  data::ArmCosts costs(const data::CostFacts& facts, std::size_t control) const;
  // As evaluate::arm_means, of units that are not judged; of all where an arm has none of them.
  ArmMeans means(const data::CostFacts& facts) const;

 private:
  struct Sums {
    core::ExactTotal weight, revenue, cost;

    void add(const Sums& other);
  };
  struct Arm {
    std::uint64_t units = 0;
    std::uint64_t judged = 0;
    core::ExactTotal paid;  // of all units: what their mean cost is made of (data::arm_costs)
    Sums judged_sums, others;
  };

  std::vector<Arm> arms_;
  LargestNumbers largest_;
};

}  // namespace dfcl::evaluate
