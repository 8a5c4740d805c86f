// SPDX-License-Identifier: Apache-2.0
//
// A trial with known truth, or the outcomes that a plan would have: what `dfcl simulate` does, for every caller. To
// files it streams; memory: a few batches, or the tables where they are kept.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/provenance.h"
#include "dfcl/data/result_batches.h"
#include "dfcl/report/files/simulation_report.h"
#include "dfcl/simulate/options.h"

namespace dfcl::verbs {

struct SimulateRequest {
  simulate::Preset preset = simulate::Preset::marketing;
  simulate::Response response = simulate::Response::smooth;
  std::int64_t rows = 0;
  std::optional<std::int64_t> days;
  std::optional<std::vector<double>> shares;
  double noise = 1.0;
  double cost_scale = 1.0;
  double population_shift = 0.0;
  bool imbalance = false;
  std::optional<std::string> outcomes_of;  // path of a plan: no trial, but what its units earn and cost
  std::optional<std::string> output;       // path of the trial, or of the outcomes
  std::optional<std::string> truth;        // path, as the next
  std::optional<std::string> study;
  bool keep = false;  // return the tables too
};

struct SimulatedTable {
  std::shared_ptr<const data::Table> table;  // null where not kept
  data::Provenance provenance;
};

struct SimulateResult {
  report::SimulationFigures figures;  // without totals for outcomes
  std::uint64_t num_outcomes = 0;     // units of the plan
  SimulatedTable trial, truth, outcomes;
  std::string study_text;
};

// Throws Error that names the field.
SimulateResult simulate(const SimulateRequest& request, core::RunContext& context);

}  // namespace dfcl::verbs
