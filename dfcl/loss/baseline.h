// SPDX-License-Identifier: Apache-2.0
//
// What a decision loss subtracts from the observed reward, so that its gradient has less variance.
#pragma once

#include <cstdint>

namespace dfcl::loss {

enum class Baseline : std::uint8_t {
  none,
  mean,           // b_i = mean over arms of the current scores, no gradient through it (measure 1 of section 5)
  doubly_robust,  // eq. 5b, needs the nuisance matrices
};

}  // namespace dfcl::loss
