// SPDX-License-Identifier: Apache-2.0
//
// From predictions (of a file, of a model, in memory) and budgets to plans: what `dfcl allocate` does, for every
// caller. Time and memory: those of the solver (dfcl/allocate), and the predictions unless they are streamed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/plan.h"
#include "dfcl/data/provenance.h"
#include "dfcl/report/plan/plan_report.h"
#include "dfcl/verbs/allocate_request.h"

namespace dfcl::verbs {

// A plan with what its file says beside it.
struct KeptPlan {
  std::shared_ptr<const data::Plan> plan;
  data::Provenance provenance;
  std::vector<std::pair<std::string, std::string>> figures;
};

struct AllocateResult {
  std::vector<std::string> arms;           // labels
  data::ReportWords words;                 // of the predictions
  std::vector<report::PlanSummary> plans;  // one for each budget
  std::vector<KeptPlan> kept;              // as `plans`, where asked for; no plan where the budget cannot be met
  // As `plans`, of units elsewhere, for assign_part: one, or one for each segment; empty: there is no plan.
  std::vector<std::vector<CutElsewhere>> cuts;
  std::optional<allocate::Curve> curve;  // instead of plans, where asked for

  bool all_met() const;
};

// A budget that cannot be met is a status of its plan. Throws Error.
AllocateResult allocate(const AllocateRequest& request, core::RunContext& context);

// Writes a kept plan as allocate would have.
void write_plan(const std::string& path, const KeptPlan& plan);

}  // namespace dfcl::verbs
