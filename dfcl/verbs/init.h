// SPDX-License-Identifier: Apache-2.0
//
// A first study file for a trial: what `dfcl init` does, for every caller. Reads the trial twice: once for its columns,
// once for what its arms cost; memory: one feature, the arm and the outcomes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"

namespace dfcl::verbs {

struct InitRequest {
  std::string trial;                  // path
  std::optional<std::string> output;  // path of the study file; none: nothing is written
  bool overwrite = false;
};

struct InitResult {
  data::Study study;  // a guess
  std::string text;   // of the study file, with remarks
  std::int64_t rows = 0;
  std::size_t columns = 0;
};

InitResult init(const InitRequest& request, core::RunContext& context);

}  // namespace dfcl::verbs
