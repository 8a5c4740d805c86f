// SPDX-License-Identifier: Apache-2.0
//
// The weights of a stack (causal Q-aggregation; docs/method.md, "The stack"): w on the simplex that minimises
//   (1 - nu) mean (psi - sum_m w_m f_m)^2 + nu sum_m w_m mean (psi - f_m)^2.
// As the weights sum to one this is (1 - nu) w'Hw + nu w'diag(H) with H_mn = mean (psi - f_m)(psi - f_n), which is all
// that is needed of the units. Solved exactly: the least value over all sets of members that may have weight, each by
// one small linear system. Time: 2^members systems; a stack of ten members takes a millisecond.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dfcl::train {

inline constexpr double kStackNu = 0.5;
inline constexpr std::size_t kMostStackMembers = 16;

// products: H, members x members, row by row.
double stack_risk(std::span<const double> products, std::span<const double> weights, double nu = kStackNu);

// They sum to one; members without weight have exactly 0. Of members that predict the same the first is taken.
std::vector<double> stack_weights(std::span<const double> products, std::size_t num_members, double nu = kStackNu);

}  // namespace dfcl::train
