// SPDX-License-Identifier: Apache-2.0
//
// Who gets what: the arm of each unit, and what it is predicted to earn and cost there. Memory: 9 bytes a unit and the
// ids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dfcl/data/ids.h"

namespace dfcl::data {

struct Plan {
  std::vector<std::string> arms;  // labels
  Ids ids;
  std::vector<std::uint8_t> arm;  // per unit, index into arms
  std::vector<float> revenue;     // per unit, predicted for the chosen arm
  std::vector<float> cost;        // per unit, predicted for the chosen arm

  std::size_t num_units() const { return arm.size(); }
};

}  // namespace dfcl::data
