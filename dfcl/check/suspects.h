// SPDX-License-Identifier: Apache-2.0
//
// Features that look like consequences of the arm: missing in one arm only or at very different rates, constant in one
// arm but not in another, or separating the arms. Each rule asks for a size and for a p-value below the level over the
// number of features. Time: little beside the tables it is given, and one pass over the few columns in question.
#pragma once

#include <vector>

#include "dfcl/check/check.h"
#include "dfcl/check/columns.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/trial.h"

namespace dfcl::check {

// left_out is set true for each feature found.
std::vector<Suspect> find_suspects(const data::Trial& trial, const ColumnTable& table,
                                   const std::vector<FeatureBalance>& features, std::size_t num_draws,
                                   const CheckOptions& options, std::vector<bool>& left_out, core::RunContext& context);

}  // namespace dfcl::check
