// SPDX-License-Identifier: Apache-2.0
//
// Whole jobs at the same time, for work that waits for something else than the processor: fits on a graphics card. Work
// of the processor is cut into chunks instead (parallel.h).
#pragma once

#include <cstddef>
#include <functional>

#include "dfcl/core/run_context.h"

namespace dfcl::core {

// Calls job(index, context) for every index in [0, count), as many at a time as the context's device takes, handed out
// in rising order. Each that runs beside others has a context of its own, with its share of the threads and of the
// device; what it warns of is told when all are done, in the order of the jobs, and progress not at all. The failure of
// the smallest index is the one thrown; no job starts after a failure. One at a time they get `context` itself.
void run_side_by_side(RunContext& context, std::size_t count, const std::function<void(std::size_t, RunContext&)>& job);

// How many of `count` jobs run at a time.
std::size_t at_a_time(const RunContext& context, std::size_t count);

}  // namespace dfcl::core
