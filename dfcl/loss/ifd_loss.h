// SPDX-License-Identifier: Apache-2.0
//
// IFD, improved finite differences: the value of the hard decision itself, differentiated by the smallest step of a
// score that changes the decision. Only rows near a tie get a gradient, so it needs predictions that are right on the
// whole: fine-tune a trained two-stage model, or keep alpha up. Cost: about 7 ns for each row and multiplier at five
// arms.
//
// V = phi_k, k the winner of the scores a; the loss is -V, averaged over the multipliers. With s the runner-up (eq. 8):
//   dV/da_j = (phi_j - phi_k) / (a_k - a_j) for j != k,   dV/da_k = (phi_k - phi_s) / (a_k - a_s).
// Taken literally this diverges, since the steps near a tie are tiny. The working form has a window h (eq. 9): only
// the pair (k, s), where a_k - a_s < h, gets +-(phi_k - phi_s) / h. Antisymmetric, so the level of the scores cannot
// drift. It is twice the gradient of the value of an arg-max softened to a ramp of half-width h, which gives both arms
// of a tie one half. As published (options.as_published) it is the formula of the paper under the public code's window,
// see flip_slopes.h. The value returned is that of the hard decision in every form.
// Against MER: no pull on rows far from a tie and no temperature, but the gradient has more noise; averaging networks
// helps it most.
#pragma once

#include "dfcl/loss/decision_loss.h"

namespace dfcl::loss {

template <class T>
struct IfdKernel;
template <class T>
using IfdLoss = DecisionLoss<T, IfdKernel>;

template <>
double DecisionLoss<float, IfdKernel>::run(const Rows<float>&, double, Gradient<float>) const;
extern template class DecisionLoss<float, IfdKernel>;
extern template class DecisionLoss<double, IfdKernel>;

// Eq. 8 to the letter for one unit (N = 1), the oracle of the forms above: score a, reward phi and slope dV/da, one for
// each arm. The scores must differ. Two arms or more.
void ifd_closed_form(std::span<const double> score, std::span<const double> reward, std::span<double> slope);

// The published formula to the letter, without a window: `received` is the arm seen and gain its w y.
void ifd_published_form(std::span<const double> score, std::size_t received, double gain, std::span<double> slope);

}  // namespace dfcl::loss
