// SPDX-License-Identifier: Apache-2.0
//
// What a readout is made of, as sums that merge: counts and exact totals of some units first, then, once the means of
// all units are known, exact sums of products around them. Any cut of the units and any order of merging give the same
// bytes, so a launch can be read out where its units are on many machines. Bytes are checked as hostile input. Memory:
// about 5 kB an arm and 10 kB a guardrail.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dfcl/core/exact_total.h"
#include "dfcl/data/plan.h"
#include "dfcl/launch/moments.h"
#include "dfcl/launch/readout.h"

namespace dfcl::launch {

class LaunchTotals {
 public:
  using PerRole = std::array<std::uint64_t, data::kNumRoles>;
  struct Arm {
    std::uint64_t units = 0;     // of role plan
    std::uint64_t received = 0;  // of them, got it
    std::uint64_t held = 0;      // held-out units that got it
    core::ExactTotal planned_cost, realised_cost, planned_revenue, realised_revenue;
  };

  // arms: labels of its plan and of its outcomes (launch_arms).
  LaunchTotals(std::vector<std::string> arms, std::vector<std::string> guardrails);

  // Units of a launch with these arms and guardrails.
  void add(const Launch& launch);
  // The arms of both are the arms then. Throws Error of kind data where the guardrails are others.
  void merge(const LaunchTotals& other);
  std::string to_bytes() const;
  static LaunchTotals from_bytes(std::string_view bytes);

  // The moments of a group of units without their products; see LaunchProducts.
  std::size_t num_groups() const { return groups_.size(); }
  Moments means(std::size_t group) const;
  double weight(std::size_t group) const { return groups_[group].weight.value(); }

  std::vector<std::string> arms;
  std::vector<std::string> guardrails;
  bool plan_has_roles = false;
  bool has_control = false;  // what units earn in control is predicted
  bool has_weights = false;
  std::uint64_t units = 0, units_in_plan = 0, units_in_outcomes = 0, joined = 0, role_conflicts = 0;
  PerRole units_per_role{}, planned_per_role{}, seen_per_role{};
  std::vector<Arm> per_arm;
  std::vector<std::uint64_t> crossings;   // planned x received
  core::ExactTotal planned_spend_of_all;  // also of units without an outcome
  core::ExactTotal planned_spend, spend;  // of all roles
  core::ExactTotal planned_incremental, planned_incremental_cost;

 private:
  struct Group {
    std::uint64_t units = 0;
    core::ExactTotal weight, r, c, x;
  };
  // The same with more arms.
  LaunchTotals with_arms(const std::vector<std::string>& all) const;

  std::vector<Group> groups_;
};

class LaunchProducts {
 public:
  explicit LaunchProducts(std::size_t num_groups) : groups_(num_groups) {}
  std::size_t num_groups() const { return groups_.size(); }

  // totals: of all units.
  void add(const Launch& launch, const LaunchTotals& totals);
  // Throws Error of kind data where the other has other groups.
  void merge(const LaunchProducts& other);
  std::string to_bytes() const;
  static LaunchProducts from_bytes(std::string_view bytes);

  Moments moments(const LaunchTotals& totals, std::size_t group) const;

 private:
  struct Group {
    core::ExactTotal rr, cc, rc, xx, xr, xc;
  };
  std::vector<Group> groups_;
};

// Groups of units whose moments are kept.
struct LaunchGroups {
  static constexpr std::size_t kAll = data::kNumRoles;                     // after the roles
  static constexpr std::size_t kSpendDifferences = data::kNumRoles + 1;    // c: realised less planned
  static constexpr std::size_t kFirstExplored = data::kNumRoles + 2;       // one for each arm
  static std::size_t guardrail(std::size_t num_arms, std::size_t which) {  // held out, plan, all
    return kFirstExplored + num_arms + 3 * which;
  }
};

// The readout of sums over all units. control: of the arms. Throws Error as read_out does.
Readout read_out_sums(const LaunchTotals& totals, const LaunchProducts& products, std::size_t control,
                      const ReadoutOptions& options);

}  // namespace dfcl::launch
