// SPDX-License-Identifier: Apache-2.0
//
// The kernel of IFD-softmax (ifd_softmax_loss.h): steps are measured on probabilities, slopes reach the scores through
// the softmax; for a block of rows or one.
#pragma once

#include <array>
#include <cstddef>

#include "dfcl/loss/decision_lines.h"
#include "dfcl/loss/flip_slopes.h"
#include "dfcl/loss/softmax_lines.h"

namespace dfcl::loss {

template <class T>
struct IfdSoftmaxKernel {
  IfdSoftmaxKernel() = default;
  template <class Options>
  explicit IfdSoftmaxKernel(const Options& options)
      : window(options.window),
        inverse_temperature(static_cast<T>(1.0 / options.temperature)),
        as_published(options.as_published) {}
  Window<T> window{1.0};
  T inverse_temperature = T(1);
  bool as_published = false;

  template <std::size_t kRows, class Arms>
  DFCL_INLINE void operator()(const KernelBlock<T, kRows, Arms>& block) const {
    T* const probability = block.spare;
    set_softmax<kRows>(block.score, block.num_arms, inverse_temperature, probability);
    // The pair comes from the scores: probabilities may be equal where scores are not.
    TopPair<kRows> pair;
    set_top_pair(block.score, block.num_arms, pair);
    if (as_published) {
      set_published_slopes(pair, block.arm, probability, block.reward, block.num_arms, window, block.slope,
                           block.value);
    } else {
      set_window_slopes(pair, probability, block.reward, block.num_arms, window, block.slope, block.value);
    }
    std::array<T, kRows> mean;
    apply_softmax_jacobian<kRows>(probability, block.slope, block.num_arms, inverse_temperature, block.slope,
                                  mean.data());
  }
};

}  // namespace dfcl::loss
