// SPDX-License-Identifier: Apache-2.0
//
// The spend if every unit got one arm, for each arm: what budgets above control, per unit and as a share of the maximum
// refer to. Exact, one pass over the costs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/batch.h"

namespace dfcl::allocate {

struct ArmSpends {
  std::size_t num_units = 0;
  std::vector<double> spend;  // per arm: the sum of its costs over all units
};

// price: the known price of each arm, which makes the sums units x price; empty: none.
ArmSpends arm_spends(core::MatrixView<const float> cost, const std::vector<double>& price, core::RunContext& context);

// The same for a stream with the columns cost_<arm>, as float32. Leaves the source at its end.
ArmSpends arm_spends(data::BatchSource& source, const std::vector<std::string>& arms, const std::vector<double>& price,
                     core::RunContext& context);

}  // namespace dfcl::allocate
