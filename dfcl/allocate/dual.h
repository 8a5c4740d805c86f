// SPDX-License-Identifier: Apache-2.0
//
// The dual of a coupled problem: G(L) = L*b + sum_i max_j (gain_ij - L*a_ij) over few multipliers L >= 0 (eq. 2 with
// several constraints). It is minimised with the maximum softened, by Newton steps, as the softness shrinks: 30-70
// passes over the units of the model, which for many units are a sample, then the open ones (solve_coupled.cpp). Every
// L gives a bound that holds; every direction along which G falls without end proves that no plan exists.
#pragma once

#include <vector>

#include "dfcl/allocate/coupled_model.h"
#include "dfcl/core/run_context.h"

namespace dfcl::allocate {

struct DualSolution {
  std::vector<double> multipliers;  // per limit
  double bound = 0.0;               // G there
  std::vector<double> proof;        // multipliers that prove that no plan of these units exists; empty: no proof found
};

struct DualOptions {
  double first_softness = 0.3;  // in units of the spread of gains
  double last_softness = 2e-5;
  std::vector<double> start = {};           // multipliers; empty: none known
  std::vector<double> low = {}, high = {};  // multipliers stay between these; empty: only above 0
  bool seeks_proof = true;
};

DualSolution solve_dual(const CoupledModel& model, const DualOptions& options, core::RunContext& context);

// Multipliers that prove that no plan, not even a fractional one, keeps to the limits; empty where none were found.
std::vector<double> find_proof(const CoupledModel& model, core::RunContext& context);

// Does G without gains, at these multipliers, fall below zero by more than rounding can explain? One pass.
bool is_proof(const CoupledModel& model, const std::vector<double>& multipliers, core::RunContext& context);

}  // namespace dfcl::allocate
