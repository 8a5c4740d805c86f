// SPDX-License-Identifier: Apache-2.0
//
// Evaluate where the rows of the trial are on many machines. The driver has a sample of the trial (all of it, where it
// is small): that is checked, and says arms and nuisance; test rows are judged where they are (evaluate_sums.h). Each
// part turns its rows into blocks and facts once; tasks then look at blocks alone (evaluate::JudgePart). Time and
// memory: a part's rows twice while they are read, then the blocks; here those of the sample and of the sums.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/model/model.h"
#include "dfcl/verbs/evaluate.h"

namespace dfcl::verbs {

struct RowsElsewhere {
  // Makes blocks of all rows (judge_part) and returns the facts of each part. arms: as judge_part takes them. nuisance:
  // null where none is needed.
  std::function<std::vector<std::string>(const std::string& arms, const std::shared_ptr<const model::Model>& nuisance)>
      judge;
  std::function<std::string(const std::string& task)> run;  // evaluate::TaskRunner
};

// request: its trial is the sample, its models are models. Throws Error of kind usage for what needs rows in one place.
EvaluateResult evaluate_elsewhere(const EvaluateRequest& request, const RowsElsewhere& rows, core::RunContext& context);

// What is kept of some rows: a block (evaluate::JudgedBlock::to_bytes; "" where none of them is judged), and facts
// (evaluate::TrialFacts::to_bytes).
struct JudgedPart {
  std::string block;
  std::string facts;
};
// request: study, models and nuisance; its trial is the rows. Throws Error.
JudgedPart judge_part(const EvaluateRequest& request, const std::string& arms, core::RunContext& context);

}  // namespace dfcl::verbs
