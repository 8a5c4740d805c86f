// SPDX-License-Identifier: Apache-2.0
//
// What runs take of memory, estimated from the sizes of their inputs before these are read: upper bounds, mostly within
// a half of what was measured (docs/decisions/0149). Whoever changes what a verb keeps for each unit changes its line
// here. Internal to verbs.
#pragma once

#include <string>

#include "dfcl/data/study.h"
#include "dfcl/verbs/allocate_request.h"
#include "dfcl/verbs/evaluate.h"
#include "dfcl/verbs/memory_limit.h"

namespace dfcl::verbs {

// study: as read, with the path of its trial. Throw Error as reading does.
// is_cached: the trial is kept in a cache.
MemoryWays train_needs(const data::Study& study, bool is_cached);
MemoryWays evaluate_needs(const EvaluateRequest& request, const data::Study& study);
MemoryWays allocate_needs(const AllocateRequest& request);

}  // namespace dfcl::verbs
