// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/train_shards.h"

#include <utility>

#include "dfcl/core/error_makers.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/trial/trial_reader.h"
#include "dfcl/train/shards.h"
#include "dfcl/verbs/check.h"
#include "dfcl/verbs/parts_of_trial.h"

namespace dfcl::verbs {
std::string shard_features(const TrainRequest& request, core::RunContext& context) {
  const data::Study study = read_study_input(request.study);
  if (study.split.by == "time")
    throw core::usage_error("[split] by", "shards would each split at a time of their own", "time", "hash, or a column",
                            "or train without shards, on a sample");
  const data::Trial trial = io::read_trial(with_trial(study, request.study), context);
  return features_json(trial.features.columns);
}

model::Model train_shard(TrainRequest request, const std::string& features, core::RunContext& context) {
  request.features = parse_features(features);
  return train(request, context);
}

model::Model stack_shards(const TrainRequest& request, const std::vector<model::Model>& shards,
                          core::RunContext& context) {
  const data::Study study = read_study_input(request.study);
  const CheckedTrial read = check_and_adjust(io::read_trial(with_trial(study, request.study), context), study, context);
  require_fit(read.checked, request.force, context);
  return train::stack_shards(*read.trial, study, shards, io::study_text(study), context);
}

}  // namespace dfcl::verbs
