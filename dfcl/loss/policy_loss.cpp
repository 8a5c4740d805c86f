// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/policy_loss.h"

#include "dfcl/loss/decision_block.h"
#include "dfcl/loss/policy_kernel.h"

namespace dfcl::loss {

template <>
DFCL_FOR_EACH_PROCESSOR double DecisionLoss<float, PolicyKernel>::run(const Rows<float>& rows, double scale,
                                                                      Gradient<float> gradient) const {
  const PolicyKernel<float> kernel(options_);
  return add_decision_gradient(rows, options_, scale, gradient, kernel);
}

template class DecisionLoss<float, PolicyKernel>;
template class DecisionLoss<double, PolicyKernel>;

}  // namespace dfcl::loss
