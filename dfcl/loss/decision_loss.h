// SPDX-License-Identifier: Apache-2.0
//
// What PL, MER, IFD and IFD-softmax are: the negative value of a decision at each multiplier, differentiated by a
// kernel of their own (decision_lines.h has the mathematics they share). A new decision loss is a kernel in a file of
// its own: `template <class T> struct` with a constructor from the options and an operator()(const KernelBlock&) that
// fills value and slopes, for processors and graphics cards alike; see policy_kernel.h for the whole of one. Cost: see
// the losses; memory: a block.
#pragma once

#include "dfcl/loss/loss.h"

namespace dfcl::loss {

template <class T, template <class> class Kernel>
class DecisionLoss final : public Loss<T> {
 public:
  // Throws Error of kind usage, see require_valid.
  explicit DecisionLoss(const DecisionOptions& options) : options_(options) { require_valid(options_); }
  const DecisionOptions& options() const { return options_; }

  double add_gradient(const Rows<T>& rows, std::span<const double>, double scale, Gradient<T> gradient) const override {
    return run(rows, scale, gradient);
  }

 private:
  // Defined in decision_block.h, and for float once more by each loss, compiled for several kinds of processor.
  double run(const Rows<T>& rows, double scale, Gradient<T> gradient) const;

  DecisionOptions options_;
};

}  // namespace dfcl::loss
