// SPDX-License-Identifier: Apache-2.0
//
// IFD-softmax: IFD with steps measured on the probabilities s = softmax(a / temperature) instead of the scores, so that
// the window h is a difference of probabilities and the same for any scale of the scores. Use it where a window on
// scores is hard to set. Cost: about 11 ns for each row and multiplier at five arms.
//
// The decision is still the arg-max (of a and s alike), V = phi_k, the loss -V. u_j = dV/ds_j by eq. 9 (or, as
// published, by its formula) with s_j in the place of a_j; then dV/da_j = s_j (u_j - sum_l s_l u_l) / temperature (eq.
// 10). Against IFD: every arm of a row near a tie moves a little, through the Jacobian, and saturated rows do not move.
#pragma once

#include "dfcl/loss/decision_loss.h"

namespace dfcl::loss {

template <class T>
struct IfdSoftmaxKernel;
template <class T>
using IfdSoftmaxLoss = DecisionLoss<T, IfdSoftmaxKernel>;

template <>
double DecisionLoss<float, IfdSoftmaxKernel>::run(const Rows<float>&, double, Gradient<float>) const;
extern template class DecisionLoss<float, IfdSoftmaxKernel>;
extern template class DecisionLoss<double, IfdSoftmaxKernel>;

}  // namespace dfcl::loss
