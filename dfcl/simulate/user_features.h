// SPDX-License-Identifier: Apache-2.0
//
// The twelve anonymous features of the preset criteo: most users hold the usual value of a feature, the others lie
// on one side of it, often on a few steps. About a third of a microsecond a row.
#pragma once

#include <array>
#include <cstdint>

#include "dfcl/simulate/visit_response.h"

namespace dfcl::simulate {

struct User {
  std::array<float, kNumUserFeatures> values;
  UserDrivers drivers;
  double activity;  // normal, sd 1
};

User draw_user(std::uint64_t seed, std::uint64_t unit);

}  // namespace dfcl::simulate
