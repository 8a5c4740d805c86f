// SPDX-License-Identifier: Apache-2.0
//
// A first study file for a trial: what `dfcl init` does, for every caller. Reads the trial twice: once for what its
// columns are, once for how they go together. Memory: a sample of at most a million rows and 50 million values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"

namespace dfcl::verbs {

struct InitRequest {
  std::string trial;                  // path
  std::optional<std::string> output;  // path of the study file; none: nothing is written
  // What is known already: names of columns, and the label of an arm.
  std::optional<std::string> arm;
  std::optional<std::string> control;
  std::optional<std::string> revenue;
  std::optional<std::string> cost;
};

struct InitResult {
  data::Study study;  // proposed
  std::string text;   // of the study file, with remarks
  std::int64_t rows = 0;
  std::size_t columns = 0;
  std::map<std::string, std::string> unsure;  // "section.key" -> what to check
};

InitResult init(const InitRequest& request, core::RunContext& context);

}  // namespace dfcl::verbs
