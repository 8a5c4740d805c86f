// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/policy_loss.h"

#include "dfcl/loss/decision_block.h"
#include "dfcl/loss/softmax_lines.h"

namespace dfcl::loss {
namespace {

template <class T>
struct PolicyKernel {
  T inverse_temperature;

  DFCL_INLINE void operator()(const KernelBlock<T>& block) const {
    set_softmax(block.score, block.num_arms, inverse_temperature, block.slope);
    apply_softmax_jacobian(block.slope, block.reward, block.num_arms, inverse_temperature, block.slope, block.value);
  }
};

template <class T>
DFCL_INLINE double run(const Rows<T>& rows, const DecisionOptions& options, double scale, Gradient<T> gradient) {
  const PolicyKernel<T> kernel{static_cast<T>(1.0 / options.temperature)};
  return add_decision_gradient(rows, options, scale, gradient, kernel);
}

DFCL_FOR_EACH_PROCESSOR
double add(const Rows<float>& rows, const DecisionOptions& options, double scale, Gradient<float> gradient) {
  return run(rows, options, scale, gradient);
}

double add(const Rows<double>& rows, const DecisionOptions& options, double scale, Gradient<double> gradient) {
  return run(rows, options, scale, gradient);
}

}  // namespace

template <class T>
PolicyLoss<T>::PolicyLoss(const DecisionOptions& options) : options_(options) {
  require_valid(options_);
}

template <class T>
double PolicyLoss<T>::add_gradient(const Rows<T>& rows, std::span<const double>, double scale,
                                   Gradient<T> gradient) const {
  return add(rows, options_, scale, gradient);
}

template class PolicyLoss<float>;
template class PolicyLoss<double>;

}  // namespace dfcl::loss
