// SPDX-License-Identifier: Apache-2.0
//
// Who gets what: the arm of each unit, and what it is predicted to earn and cost there. Where units are held out or
// explored at random, also each unit's role, the probability of its arm, and what control is predicted to yield, so
// that the launch can be measured. Memory: 9 bytes a unit and the ids; 13 more with roles.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dfcl/data/batch.h"
#include "dfcl/data/ids.h"

namespace dfcl::data {

// plan: gets the arm that is best for it; holdout: gets control, whatever is best; explore: gets an arm at random.
enum class Role : std::uint8_t { plan = 0, holdout = 1, explore = 2 };
inline constexpr std::size_t kNumRoles = 3;
inline constexpr std::string_view kRoleNames[kNumRoles] = {"plan", "holdout", "explore"};

struct Plan {
  std::vector<std::string> arms;  // labels
  Ids ids;
  std::vector<std::uint8_t> arm;  // per unit, index into arms
  std::vector<float> revenue;     // per unit, predicted for the chosen arm
  std::vector<float> cost;        // per unit, predicted for the chosen arm
  // Per unit, or empty where nobody is held out or explored.
  std::vector<Role> role;
  std::vector<float> propensity;  // probability of the unit's arm over the draw of the roles
  std::vector<float> control_revenue;
  std::vector<float> control_cost;
  ExtraColumns extra = {};  // carried from the units, or reasons; may be empty

  std::size_t num_units() const { return arm.size(); }
  bool has_roles() const { return !role.empty(); }
};

}  // namespace dfcl::data
