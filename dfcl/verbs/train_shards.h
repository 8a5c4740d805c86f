// SPDX-License-Identifier: Apache-2.0
//
// Training on shards of a trial that lie on many machines: the driver says what categories mean, each machine fits its
// shard as `train` would, the driver weighs the fits into one model (train/shards.h). Requests are those of train: the
// trial is the units that judge, or the shard; nothing is written. Time and memory: those of train on a shard, and of
// the judge.
#pragma once

#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/model/model.h"
#include "dfcl/verbs/train.h"

namespace dfcl::verbs {

// The features of the units that judge, with their levels, as JSON.
std::string shard_features(const TrainRequest& request, core::RunContext& context);

// A shard's model. features: as above. Throws Error.
model::Model train_shard(TrainRequest request, const std::string& features, core::RunContext& context);

// One model of all shards, in their order. Throws Error.
model::Model stack_shards(const TrainRequest& request, const std::vector<model::Model>& shards,
                          core::RunContext& context);

}  // namespace dfcl::verbs
