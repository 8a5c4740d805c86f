// SPDX-License-Identifier: Apache-2.0
//
// The dual of a coupled problem with its maxima softened, per unit and in scaled numbers: value, slope and curvature at
// some multipliers in one pass. Multipliers are in units of gain_spread per typical use. Arms that are far behind a
// unit's best cost one comparison. The same for any number of threads.
#pragma once

#include <vector>

#include "dfcl/allocate/coupled_model.h"
#include "dfcl/core/run_context.h"

namespace dfcl::allocate {

struct Soft {
  double value = 0.0;
  std::vector<double> slope;
  std::vector<double> curvature;  // limits x limits
};

// What is added to the dual: barrier keeps multipliers above 0, ridge bounds them.
struct SoftTerms {
  double softness = 0.0;
  double barrier = 0.0;
  double ridge = 0.0;
  bool with_gains = true;  // false asks for feasibility only
};

Soft soft_dual(const CoupledModel& model, const std::vector<double>& multipliers, const SoftTerms& terms,
               core::RunContext& context);

}  // namespace dfcl::allocate
