// SPDX-License-Identifier: Apache-2.0
//
// What machines that each have some rows of a trial must know of the whole to mean the same by their numbers: its arms
// and the levels of its categories, as text that travels. Internal to verbs.
#pragma once

#include <string>
#include <vector>

#include "dfcl/data/features.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"

namespace dfcl::verbs {

std::string arms_json(const data::Arms& arms);
// The study by which parts are read: every arm has a name, in the order of the whole. Throws Error of kind data.
data::Study study_of_parts(data::Study study, const std::string& arms);

std::string features_json(const std::vector<data::FeatureColumn>& features);
// Throws Error of kind data.
std::vector<data::FeatureColumn> parse_features(const std::string& text);

}  // namespace dfcl::verbs
