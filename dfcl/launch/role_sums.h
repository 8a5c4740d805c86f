// SPDX-License-Identifier: Apache-2.0
//
// What the units of each role are predicted to earn and spend, exactly: neither the order of the units nor how they are
// cut into parts shows, and sums of parts merge, also as bytes. About 1 kB.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "dfcl/allocate/exact_sum.h"
#include "dfcl/data/plan.h"
#include "dfcl/launch/launch_design.h"

namespace dfcl::launch {

class RoleSums {
 public:
  // Units of a plan with roles.
  void add(const data::Plan& piece);
  void merge(const RoleSums& other);
  // Per data::Role, each sum rounded once.
  std::vector<RoleTotals> totals() const;

  std::string to_bytes() const;
  // Throws Error of kind data.
  static RoleSums from_bytes(std::string_view bytes);

 private:
  struct Sums {
    std::size_t units = 0;
    allocate::ExactSum revenue, spend, control_revenue, control_spend;
  };
  std::array<Sums, data::kNumRoles> roles_;
};

}  // namespace dfcl::launch
