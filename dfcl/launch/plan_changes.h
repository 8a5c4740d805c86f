// SPDX-License-Identifier: Apache-2.0
//
// What changes from one plan to the next: units that came, went or moved to another arm, and spend and revenue by arm
// before and now. The new plan comes piece by piece. Memory: about 48 bytes a unit of the old plan.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "dfcl/data/plan.h"

namespace dfcl::launch {

struct ArmTotals {
  std::size_t units = 0;
  double revenue = 0.0;  // predicted
  double spend = 0.0;    // predicted
};

struct PlanChange {
  std::vector<std::string> arms;  // of either plan, those of the new one first
  std::vector<ArmTotals> before;  // per arm
  std::vector<ArmTotals> now;     // per arm
  std::size_t units_in_both = 0;
  std::size_t units_new = 0;
  std::size_t units_gone = 0;
  std::size_t units_moved = 0;                  // in both plans, in another arm
  std::vector<std::vector<std::size_t>> moves;  // from arm x to arm, units in both plans
  bool roles_known = false;                     // both plans have roles
  std::size_t holdout_changed = 0;              // units in both plans that entered or left the hold-out
};

class PlanChanges {
 public:
  // arms: labels of the new plan.
  PlanChanges(const data::Plan& previous, const std::vector<std::string>& arms);

  void add(const data::Plan& piece);
  PlanChange result() const;

 private:
  struct Entry {
    std::uint16_t arm;
    data::Role role;
    bool seen = false;
  };
  std::unordered_map<std::uint64_t, Entry> previous_;  // by hash of the id
  bool previous_has_roles_;
  PlanChange change_;
};

}  // namespace dfcl::launch
