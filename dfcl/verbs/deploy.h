// SPDX-License-Identifier: Apache-2.0
//
// An online test of several methods, simulated: what `dfcl deploy` does, for every caller. Time and memory: those of
// dfcl/launch/deploy.h.
#pragma once

#include <optional>
#include <string>

#include "dfcl/core/run_context.h"
#include "dfcl/launch/deploy.h"
#include "dfcl/verbs/study_input.h"
#include "dfcl/verbs/words.h"

namespace dfcl::verbs {

struct DeployRequest {
  StudyInput study;                       // [deploy] says what is played
  std::optional<std::string> output;      // path of the results, .json; none: nothing is written
  Switch controller = Switch::on;         // which of the two campaigns comes first in the results
  std::optional<std::string> checkpoint;  // folder that keeps the trained models
};

struct DeployResult {
  launch::DeployResult deployment;
  std::string json;  // as in the results file
};

DeployResult deploy(const DeployRequest& request, core::RunContext& context);

}  // namespace dfcl::verbs
