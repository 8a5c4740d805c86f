// SPDX-License-Identifier: Apache-2.0
//
// What one would write without the path: fifty halvings of an interval of multipliers, each a threaded pass over all
// units. The opponent of bench/allocate_bench.cpp. It finds a multiplier and writes no plan.
#pragma once

#include <cstddef>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"

namespace dfcl::bench {

// The multiplier at which the arg-max plan of five arms spends no more than the budget. 5 arms only.
float bisect_multiplier(core::MatrixView<const float> revenue, core::MatrixView<const float> cost, double budget,
                        core::RunContext& context);

}  // namespace dfcl::bench
