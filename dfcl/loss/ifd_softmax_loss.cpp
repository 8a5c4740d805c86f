// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/ifd_softmax_loss.h"

#include "dfcl/core/matrix.h"
#include "dfcl/loss/flip_slopes.h"
#include "dfcl/loss/softmax_lines.h"

namespace dfcl::loss {
namespace {

template <class T>
struct IfdSoftmaxKernel {
  Window<T> window;
  T inverse_temperature;
  bool as_published;
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

template <class T>
DFCL_INLINE double run(const Rows<T>& rows, const DecisionOptions& options, double scale, Gradient<T> gradient) {
  core::Matrix<T> probability(rows.num_arms(), kBlockRows);
  const IfdSoftmaxKernel<T> kernel{Window<T>(options.window), static_cast<T>(1.0 / options.temperature),
                                   options.as_published, probability.data()};
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
IfdSoftmaxLoss<T>::IfdSoftmaxLoss(const DecisionOptions& options) : options_(options) {
  require_valid(options_);
}

template <class T>
double IfdSoftmaxLoss<T>::add_gradient(const Rows<T>& rows, std::span<const double>, double scale,
                                       Gradient<T> gradient) const {
  return add(rows, options_, scale, gradient);
}

template class IfdSoftmaxLoss<float>;
template class IfdSoftmaxLoss<double>;

}  // namespace dfcl::loss
