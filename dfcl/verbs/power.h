// SPDX-License-Identifier: Apache-2.0
//
// How large must a trial be, and what can this one show: what `dfcl power` does, for every caller. Memory: the trial
// and the predictions of at most two models.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/provenance.h"
#include "dfcl/report/launch/power_report.h"
#include "dfcl/verbs/model_input.h"
#include "dfcl/verbs/study_input.h"
#include "dfcl/verbs/words.h"

namespace dfcl::verbs {

struct PowerRequest {
  std::optional<StudyInput> study;     // of a trial like the next one; none: from `sd`
  std::vector<ModelInput> models;      // at most two, to tell apart
  std::optional<std::string> output;   // path of the results, .json; none: nothing is written
  std::optional<Rows> split;           // none: test with models, else all
  std::optional<double> sd;            // of the paired difference, per unit
  std::vector<double> gains;           // revenue per unit, to be found
  std::vector<double> relative_gains;  // the same, relative to the first plan's revenue
  std::optional<double> per_unit;      // budgets; none: the study's first
  std::optional<double> share_of_max;
  std::optional<double> differ;  // share of the units to which plans give other arms, without two models; 0.3
  std::optional<std::int64_t> launch_units;  // that a hold-out is taken from; none: as many as the trial has
  double power = 0.8;
  double level = 0.95;
};

struct PowerResult {
  report::PowerFigures figures;
  data::Provenance provenance;
};

PowerResult power(const PowerRequest& request, core::RunContext& context);

}  // namespace dfcl::verbs
