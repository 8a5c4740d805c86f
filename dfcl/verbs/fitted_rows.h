// SPDX-License-Identifier: Apache-2.0
//
// Were models or predictions fitted on the rows they are judged by? A model knows its training units, predictions of a
// model carry a sketch of them (model/trained_units.h), and for predictions from elsewhere the caller can name a table
// of the rows they were fitted on. Time: one hash a row; memory: 8 bytes a row of that table. Internal to verbs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/prediction.h"
#include "dfcl/model/trained_units.h"
#include "dfcl/verbs/trial_predictions.h"

namespace dfcl::verbs {

// Throws Error of kind data where units of `trained` are among the judged rows and that is refused; else warns. whose:
// "the model", "these predictions".
void look_for_training_rows(const model::TrainedUnits& trained, const char* whose, const std::string& path,
                            const JudgedTrial& judged, TrainingRows training_rows, core::RunContext& context);

// The rows that predictions from elsewhere were fitted on.
class FittedRows {
 public:
  FittedRows() = default;  // nobody says
  // path: a table with a column `id` or the study's own id, where the trial has times also `time` or the study's own.
  // Rows whose column `split` says test are left out, so that what --split-out writes can be handed back. Throws Error.
  FittedRows(const std::string& path, const JudgedTrial& judged, core::RunContext& context);

  bool are_known() const { return !path_.empty(); }
  // Throws or warns as above.
  void look_for(const std::string& predictions, const JudgedTrial& judged, TrainingRows training_rows,
                core::RunContext& context) const;

 private:
  std::string path_;
  std::vector<std::uint64_t> keys_;  // rising
};

}  // namespace dfcl::verbs
