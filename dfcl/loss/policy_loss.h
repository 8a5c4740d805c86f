// SPDX-License-Identifier: Apache-2.0
//
// PL and MER: the expected value of a soft decision, which gives each arm the probability softmax(score / temperature).
// Smooth everywhere, every arm gets a gradient, hence the first choice among decision losses; but it rewards sharp
// scores, so it over-trains where the prediction loss does not: use it with alpha, weight decay and early stopping.
// A low temperature (0.03 to 0.1 of typical scores) comes close to the decision that is made in the end; PL is the
// temperature 1. Cost: about 6 ns for each row and multiplier at five arms; no memory but a block.
//
//   loss = -(1/|S|) sum_L sum_j q_j phi_j,  q = softmax_j(a_j / temperature)              (eq. 5, 5b, 6)
//   d loss / da_k = -(1/(|S| temperature)) q_k (phi_k - sum_j q_j phi_j)                  (eq. 7)
// with the reward estimates phi of decision_block.h. With the baselines none and mean, phi is zero but for the arm
// received and (eq. 7) is its first form. Not convex in the predictions. Unlike IFD (ifd_loss.h) it also pushes where
// the decision is far from a tie, by a little.
#pragma once

#include "dfcl/loss/decision_loss.h"

namespace dfcl::loss {

template <class T>
struct PolicyKernel;
template <class T>
using PolicyLoss = DecisionLoss<T, PolicyKernel>;

template <>
double DecisionLoss<float, PolicyKernel>::run(const Rows<float>&, double, Gradient<float>) const;
extern template class DecisionLoss<float, PolicyKernel>;
extern template class DecisionLoss<double, PolicyKernel>;

}  // namespace dfcl::loss
