// SPDX-License-Identifier: Apache-2.0
//
// The spend if every unit got the arm that costs most in all: what budgets given as a share of the maximum refer to.
// One pass over the costs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/batch.h"

namespace dfcl::allocate {

struct CostliestArm {
  std::size_t num_units = 0;
  double spend = 0.0;  // sum of that arm's costs over all units
};

CostliestArm costliest_arm(core::MatrixView<const float> cost, core::RunContext& context);

// The same for a stream with the columns cost_<arm>, as float32. Leaves the source at its end.
CostliestArm costliest_arm(data::BatchSource& source, const std::vector<std::string>& arms, core::RunContext& context);

}  // namespace dfcl::allocate
