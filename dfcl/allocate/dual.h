// SPDX-License-Identifier: Apache-2.0
//
// The dual of a coupled problem: G(L) = L*b + sum_i max_j (gain_ij - L*a_ij) over few multipliers L >= 0 (eq. 2 with
// several constraints). It is minimised with the maximum softened, by Newton steps, as the softness shrinks: 50-100
// passes over the units. Every L gives a bound that holds; every direction along which G falls without end
// proves that no plan exists.
#pragma once

#include <vector>

#include "dfcl/allocate/coupled_model.h"
#include "dfcl/core/run_context.h"

namespace dfcl::allocate {

struct DualSolution {
  std::vector<double> multipliers;  // per limit
  double bound = 0.0;               // G there
  bool infeasible = false;          // proven
};

DualSolution solve_dual(const CoupledModel& model, core::RunContext& context);

// Tries to prove that no plan, not even a fractional one, keeps to the limits.
bool prove_infeasible(const CoupledModel& model, core::RunContext& context);

}  // namespace dfcl::allocate
