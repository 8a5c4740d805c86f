// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/policy_loss.h"

#include "dfcl/loss/decision_block.h"
#include "dfcl/loss/softmax_lines.h"

namespace dfcl::loss {
template <class T>
struct PolicyKernel {
  PolicyKernel(const DecisionOptions& options, std::size_t)
      : inverse_temperature(static_cast<T>(1.0 / options.temperature)) {}
  T inverse_temperature;

  DFCL_INLINE void operator()(const KernelBlock<T>& block) const {
    set_softmax(block.score, block.num_arms, inverse_temperature, block.slope);
    apply_softmax_jacobian(block.slope, block.reward, block.num_arms, inverse_temperature, block.slope, block.value);
  }
};

template <>
DFCL_FOR_EACH_PROCESSOR double DecisionLoss<float, PolicyKernel>::run(const Rows<float>& rows, double scale,
                                                                      Gradient<float> gradient) const {
  PolicyKernel<float> kernel(options_, rows.num_arms());
  return add_decision_gradient(rows, options_, scale, gradient, kernel);
}

template class DecisionLoss<float, PolicyKernel>;
template class DecisionLoss<double, PolicyKernel>;

}  // namespace dfcl::loss
