// SPDX-License-Identifier: Apache-2.0
//
// From the raw outputs of a network to the predictions of one outcome for every arm, and back by the chain rule. The
// kind of the outcome decides the link, what is known about the arms decides the structure. Cost: a few nanoseconds a
// row and arm; no memory but the workspace.
//
// With raw outputs u, arms j = 0..M-1 and softplus steps (eq. 15):
//   plain     real:          u_j                                     (softplus of it where non_negative)
//             non_negative:  exp(u_0), exp(u_0 + u_j): a base and log ratios (eq. 4b); exp(u_j) where arms_apart
//             binary:        sigmoid(u_j)
//   monotone  real:          u_0 + d_1 + .. + d_j,  d = softplus(u)  (softplus of the base where non_negative)
//             non_negative:  exp(u_0) (1 + d_1 + .. + d_j)
//             binary:        sigmoid(u_0 + d_1 + .. + d_j)
//   concave   the same with falling steps, d_j = softplus(u_j) + softplus(u_(j+1)) + ..; of a binary outcome the logit
//   is
//             concave.
// Where control is free its prediction is exactly 0 and passes no gradient; the others are then
//   plain     as above, the base of a log link being an output of its own
//   monotone  real: d_1 + .. + d_j; non_negative: exp(u_0) (d_1 + .. + d_j); binary: the base is the first arm that
//   costs.
//
// Exponents and logits are kept within kLargestExponent. The slope beyond is that at the bound, not zero, so that a
// prediction that ran away can come back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/learn/outcome_facts.h"
#include "dfcl/loss/outcome_kind.h"
#include "dfcl/nn/head_lines.h"

namespace dfcl::nn {

using learn::ArmShape;
using OutcomeOptions = learn::OutcomeFacts;  // softplus where not negative

// A wide matrix (arms x rows) of one tile, used again for every tile.
template <class T>
struct HeadWorkspace {
  explicit HeadWorkspace(std::size_t num_arms);
  core::Matrix<T> steps;  // softplus steps, or the gradients that reach them
};

template <class T>
class OutcomeHead {
 public:
  // Throws a usage error where the options contradict each other.
  explicit OutcomeHead(const OutcomeOptions& options);

  const OutcomeOptions& options() const { return lines_.facts; }
  std::size_t num_arms() const { return lines_.facts.num_arms; }
  // Raw outputs that the head needs.
  std::size_t num_outputs() const { return lines_.num_outputs; }
  // The mathematics alone, for engines that have their own loops over rows.
  const HeadLines<T>& lines() const { return lines_; }
  // Those that the prediction of one arm depends on.
  std::vector<std::size_t> outputs_of(std::size_t arm) const;

  // raw[i] points to num_rows values of raw output i. With `only`, just the predictions of that arm are made (of a
  // plain shape; others make all) and just outputs_of(arm) are read.
  void forward(std::span<const T* const> raw, std::size_t num_rows, std::optional<std::size_t> only,
               HeadWorkspace<T>& workspace, core::MatrixView<T> prediction) const;
  // gradient: rows x arms, d loss / d prediction; with `only`, zero for the other arms. Sets raw_gradient[i], with
  // `only` just those of outputs_of(arm).
  void backward(std::span<const T* const> raw, std::size_t num_rows, std::optional<std::size_t> only,
                core::MatrixView<const T> prediction, core::MatrixView<const T> gradient, HeadWorkspace<T>& workspace,
                std::span<T* const> raw_gradient) const;

 private:
  HeadLines<T> lines_;
};

extern template struct HeadWorkspace<float>;
extern template struct HeadWorkspace<double>;
extern template class OutcomeHead<float>;
extern template class OutcomeHead<double>;

}  // namespace dfcl::nn
