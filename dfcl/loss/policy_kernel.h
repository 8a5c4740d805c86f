// SPDX-License-Identifier: Apache-2.0
//
// The kernel of PL and MER (policy_loss.h): the value of a soft decision and its slopes, for a block of rows or one.
#pragma once

#include <cstddef>

#include "dfcl/loss/decision_lines.h"
#include "dfcl/loss/softmax_lines.h"

namespace dfcl::loss {

template <class T>
struct PolicyKernel {
  PolicyKernel() = default;
  template <class Options>
  explicit PolicyKernel(const Options& options) : inverse_temperature(static_cast<T>(1.0 / options.temperature)) {}
  T inverse_temperature = T(1);

  template <std::size_t kRows, class Arms>
  DFCL_INLINE void operator()(const KernelBlock<T, kRows, Arms>& block) const {
    set_softmax<kRows>(block.score, block.num_arms, inverse_temperature, block.slope);
    apply_softmax_jacobian<kRows>(block.slope, block.reward, block.num_arms, inverse_temperature, block.slope,
                                  block.value);
  }
};

}  // namespace dfcl::loss
