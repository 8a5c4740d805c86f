// SPDX-License-Identifier: Apache-2.0
//
// The kernel of IFD (ifd_loss.h): the value of the hard decision and its slopes under a window, for a block of rows or
// one.
#pragma once

#include <cstddef>

#include "dfcl/loss/decision_lines.h"
#include "dfcl/loss/flip_slopes.h"

namespace dfcl::loss {

template <class T>
struct IfdKernel {
  IfdKernel() = default;
  template <class Options>
  explicit IfdKernel(const Options& options) : window(options.window), as_published(options.as_published) {}
  Window<T> window{1.0};
  bool as_published = false;

  template <std::size_t kRows, class Arms>
  DFCL_INLINE void operator()(const KernelBlock<T, kRows, Arms>& block) const {
    TopPair<kRows> pair;
    set_top_pair(block.score, block.num_arms, pair);
    if (as_published) {
      set_published_slopes(pair, block.arm, block.score, block.reward, block.num_arms, window, block.slope,
                           block.value);
    } else {
      set_window_slopes(pair, block.score, block.reward, block.num_arms, window, block.slope, block.value);
    }
  }
};

}  // namespace dfcl::loss
