// SPDX-License-Identifier: Apache-2.0
//
// `--method tsm-forest`: a causal forest for the arms (dfcl/forest) on the base of two networks. Each network learns
// the outcomes from half of the training units (eq. 4, 4b) and gives the base of the other half, the mean of its
// predictions over the arms, so that no unit's base was fitted on its own outcome. Units of other data get the mean of
// both. Time: one two-stage training and the forest; memory: the forest's records, about 130 bytes a training unit at
// 107 features.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"
#include "dfcl/forest/forest.h"
#include "dfcl/train/nuisance.h"

namespace dfcl::train {

// The study's [forest], checked against the training units.
forest::ForestOptions forest_options_of(const data::Study& study, std::size_t num_training_units, std::size_t num_arms,
                                        std::uint64_t seed);
// What changes the result, in the order to show it.
std::vector<std::pair<std::string, std::string>> shown(const forest::ForestOptions& options);

struct ForestFit {
  std::vector<std::vector<float>> members;  // parameters of the two networks
  std::vector<EpochRecord> record;
  forest::Forest forest;
  // Of the training units, in their order, in the study's currency, without the trees that saw the unit: training
  // units x arms.
  core::Matrix<float> revenue;
  core::Matrix<float> cost;
};

// Throws Error of kind usage or data.
ForestFit fit_forest(const data::Trial& trial, const data::Study& study, const Preparation& prepared,
                     const Settings& settings, const FinishNetwork& finish, core::RunContext& context);

}  // namespace dfcl::train
