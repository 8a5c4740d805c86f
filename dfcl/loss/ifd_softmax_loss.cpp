// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/ifd_softmax_loss.h"

#include "dfcl/loss/decision_block.h"
#include "dfcl/loss/ifd_softmax_kernel.h"

namespace dfcl::loss {

template <>
DFCL_FOR_EACH_PROCESSOR double DecisionLoss<float, IfdSoftmaxKernel>::run(const Rows<float>& rows, double scale,
                                                                          Gradient<float> gradient) const {
  const IfdSoftmaxKernel<float> kernel(options_);
  return add_decision_gradient(rows, options_, scale, gradient, kernel);
}

template class DecisionLoss<float, IfdSoftmaxKernel>;
template class DecisionLoss<double, IfdSoftmaxKernel>;

}  // namespace dfcl::loss
