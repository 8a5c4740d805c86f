// SPDX-License-Identifier: Apache-2.0
//
// Mean revenue and cost of each arm and their differences from control, with intervals that hold when rows of a group
// (cluster, or id over time) go together. Means are weighted by 1 / propensity where one is given. Two passes over the
// rows.
#pragma once

#include <vector>

#include "dfcl/check/check.h"
#include "dfcl/check/draws.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/trial.h"

namespace dfcl::check {

// Everything of ArmSummary but the designed share.
std::vector<ArmSummary> arm_means(const data::Trial& trial, const RowGroups& groups, core::RunContext& context);

}  // namespace dfcl::check
