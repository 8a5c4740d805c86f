// SPDX-License-Identifier: Apache-2.0
//
// What an evaluation asks of rows that are elsewhere, on many machines: a pass over the path of a prediction
// (allocate/path_pass.h), or the sums of plans. A task in bytes goes out; each part of the rows answers with findings
// in bytes; findings of one task merge, in any order and from any cut of the rows, to the same bytes. Bytes are checked
// as hostile input. Memory: that of the findings, and one block of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dfcl/allocate/path_pass.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/cost_facts.h"
#include "dfcl/evaluate/sums/judged_block.h"
#include "dfcl/evaluate/sums/judged_sums.h"

namespace dfcl::evaluate {

// Whose plans: those of a prediction of the blocks, or of mean outcomes that are the same for all units (random).
struct Planned {
  std::size_t prediction = 0;
  std::vector<float> mean_revenue = {};  // per arm; empty: as predicted
  std::vector<float> mean_cost = {};
  allocate::Rules rules = {};
};

struct PathTask {
  Planned planned;
  std::size_t num_arms = 0;
  std::string pass;  // allocate::PathPass::to_bytes
};

// Plans are those of the cuts, in their order, then each arm for everyone.
struct SumTask {
  struct Cuts {
    Planned planned;
    std::vector<std::string> cuts;  // allocate::PathCut::to_bytes
  };
  std::vector<Cuts> of_predictions;
  SumShape shape;
  Estimator estimator = Estimator::hajek;
  std::size_t control = 0;
  bool free_control = false;
  std::vector<double> weight_of_arm;  // 1 / share; empty: rows have propensities
  data::CostFacts cost_facts = {};
};

struct JudgeTask {
  std::optional<PathTask> path;
  std::optional<SumTask> sums;  // one of them

  // "sample": some 16,384 rows will do; "path", "sums".
  const char* kind() const;
  std::string to_bytes() const;
  // Throws Error of kind data.
  static JudgeTask from_bytes(std::string_view bytes);
};

// What a task finds in some rows.
class JudgePart {
 public:
  explicit JudgePart(JudgeTask task);
  JudgePart(const JudgePart&) = delete;
  JudgePart& operator=(const JudgePart&) = delete;

  // Throws Error of kind data where the block has no such prediction.
  void add(const JudgedBlock& block, core::RunContext& context);
  // Of the same task. Throws Error of kind data.
  void merge_bytes(std::string_view bytes);
  std::string to_bytes();

 private:
  void add_path(const JudgedBlock& block);
  void add_sums(const JudgedBlock& block, core::RunContext& context);

  JudgeTask task_;
  std::optional<allocate::PathPass> pass_;
  std::optional<allocate::Prices> prices_;
  std::optional<allocate::PassPart> found_;
  std::optional<JudgedSums> sums_;
};

}  // namespace dfcl::evaluate
