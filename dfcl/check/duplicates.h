// SPDX-License-Identifier: Apache-2.0
//
// Ids (or ids and times) that occur more than once. Time: one sort of 64-bit hashes; equal hashes are compared
// exactly. Memory: 8 bytes a unit, and 16 for each row whose hash occurs again.
#pragma once

#include "dfcl/check/check.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/trial.h"

namespace dfcl::check {

// For a trial whose study names an id column.
Duplicates find_duplicates(const data::Trial& trial, core::RunContext& context);

}  // namespace dfcl::check
