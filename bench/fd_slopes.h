// SPDX-License-Identifier: Apache-2.0
//
// Finite differences of what a plan earns (eq. 11), for one batch: each prediction is moved by a step, one at a time,
// and the budget problem of the batch is solved anew. Time: 2 x rows x arms + 1 solves for each budget, hence square in
// the rows; memory: three matrices of rows x arms.
#pragma once

#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/loss/fd_loss.h"

namespace dfcl::bench {

struct FdSlopes {
  core::Matrix<float> revenue;  // rows x arms: d(sum of the losses) / d prediction
  core::Matrix<float> cost;     // zero where the gradient is for revenue only
  double loss = 0.0;            // minus what the plans earn, a row; the mean over the budgets
};

// rows: predictions and what was seen, scaled. A plan is worth the revenue estimates of its arms: those of eq. 5 or 5b
// at a price of 0, since the budget stands for the cost. A budget that these predictions cannot meet is raised to the
// least they can spend. Throws Error of kind usage for more than loss::kMostFdRows rows.
FdSlopes fd_slopes(const loss::Rows<float>& rows, const std::vector<double>& budgets_per_unit, loss::Baseline baseline,
                   const loss::FdOptions& options, core::RunContext& context);

}  // namespace dfcl::bench
