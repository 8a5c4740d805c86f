// SPDX-License-Identifier: Apache-2.0
//
// One model from fits on shards of a trial, each made where its shard is: the mean of the shards' models as they are,
// calibration included, which comes near one fit on all units without any machine that holds them. Units that no shard
// has seen measure it, price the budgets and, 40,000 or more of them, calibrate the mean. A forest of shards predicts
// by trees from all of them. Time: predictions of the judging units by every shard. Memory: 32 bytes per judging unit
// and arm.
#pragma once

#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"
#include "dfcl/model/model.h"

namespace dfcl::train {

inline constexpr std::size_t kMostShards = 256;

// Codes the categories of a trial by these features, so that fits on several trials mean the same by a code. Levels
// that the features do not have are pooled. Throws Error of kind data where the features are others.
void recode_levels(const std::vector<data::FeatureColumn>& features, data::Trial& trial);

// judging: training and validation units that no shard has. study_text is kept in the model. Throws Error of kind data
// where shards and judging units do not have the same arms and features, or the units are too few to weigh by; of kind
// usage for methods that learn an index.
model::Model stack_shards(const data::Trial& judging, const data::Study& study, const std::vector<model::Model>& shards,
                          const std::string& study_text, core::RunContext& context);

}  // namespace dfcl::train
