// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/ifd_softmax_loss.h"

#include "dfcl/core/matrix.h"
#include "dfcl/loss/flip_slopes.h"
#include "dfcl/loss/softmax_lines.h"

namespace dfcl::loss {
template <class T>
struct IfdSoftmaxKernel {
  IfdSoftmaxKernel(const DecisionOptions& options, std::size_t num_arms)
      : window(options.window),
        inverse_temperature(static_cast<T>(1.0 / options.temperature)),
        as_published(options.as_published),
        memory(num_arms, kBlockRows),
        probability(memory.data()) {}
  Window<T> window;
  T inverse_temperature;
  bool as_published;
  core::Matrix<T> memory;
  T* probability;  // arms x kBlockRows

  DFCL_INLINE void operator()(const KernelBlock<T>& block) const {
    set_softmax(block.score, block.num_arms, inverse_temperature, probability);
    // The pair comes from the scores: probabilities may be equal where scores are not.
    TopPair pair;
    set_top_pair(block.score, block.num_arms, pair);
    if (as_published) {
      set_published_slopes(pair, block.arm, probability, block.reward, block.num_arms, window, block.slope,
                           block.value);
    } else {
      set_window_slopes(pair, probability, block.reward, block.num_arms, window, block.slope, block.value);
    }
    std::array<T, kBlockRows> mean;
    apply_softmax_jacobian(probability, block.slope, block.num_arms, inverse_temperature, block.slope, mean.data());
  }
};

template <>
DFCL_FOR_EACH_PROCESSOR double DecisionLoss<float, IfdSoftmaxKernel>::run(const Rows<float>& rows, double scale,
                                                                          Gradient<float> gradient) const {
  IfdSoftmaxKernel<float> kernel(options_, rows.num_arms());
  return add_decision_gradient(rows, options_, scale, gradient, kernel);
}

template class DecisionLoss<float, IfdSoftmaxKernel>;
template class DecisionLoss<double, IfdSoftmaxKernel>;

}  // namespace dfcl::loss
