// SPDX-License-Identifier: Apache-2.0
//
// The units of a plan, wherever they come from: predictions in memory, of a file or of a model, or a stream of them.
// Both end in one allocate::PlanPath, so allocate is one script. Memory: the predictions, or one batch of the stream
// and 8 bytes a unit during its first pass, for the ids.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/allocate/arm_spends.h"
#include "dfcl/allocate/plan_path.h"
#include "dfcl/core/error.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/plan.h"
#include "dfcl/data/prediction.h"
#include "dfcl/launch/launch_design.h"
#include "dfcl/model/study_words.h"
#include "dfcl/verbs/allocate_request.h"
#include "dfcl/verbs/rule_plan.h"

namespace dfcl::verbs {

class PlanInput {
 public:
  virtual ~PlanInput() = default;

  virtual allocate::PlanPath& path() = 0;
  virtual std::size_t num_units() = 0;
  // What every arm would cost for all units.
  virtual allocate::ArmSpends spends() = 0;
  // What all units would cost in control.
  virtual double control_spend() = 0;
  virtual data::Ids ids(const allocate::PlannedUnits& planned) = 0;
  // Adds the roles of some units to a piece of the plan whose ids and arms are known; only where roles are drawn.
  virtual void append_roles(const allocate::PlannedUnits& planned, const allocate::Solution& solution,
                            data::Plan& piece) = 0;
  // The id of a unit by its place, for messages.
  virtual std::string id_of(std::size_t unit) = 0;
  // The plan as a short rule; only for a model's units. best: the plan without a rule.
  virtual RulePlan rule_plan(const allocate::Solution& best) = 0;
  // Of the predictions, known once a plan was delivered.
  virtual std::uint64_t fingerprint() = 0;

  data::PredictionFacts facts;  // with what the request says of them
  allocate::Rules rules;
  launch::LaunchDesign design;
  std::vector<std::string> segments;  // labels; empty without segments
  bool has_ids = true;                // units have names of their own
  bool has_eligibility = false;       // some units may not get every arm
  bool has_drifted = false;           // the units of a model are unlike those that it was trained on
  // Columns that travel into the plan: of a file of predictions or units, or of predictions in memory.
  std::string carried_from = {};  // path; "": in memory
  const data::ExtraColumns* carried = nullptr;
  std::shared_ptr<const model::Model> model = {};  // that made the predictions for this plan; null: they are a file's
  // What one unit of revenue is worth: as the request says, else as the model's study does; none: it is not known.
  std::optional<model::RevenueValue> value = {};
  std::vector<std::string> warnings;  // of predictions that are an index, say no control or have no ids
};

// A piece of the plan: ids, arms, what they are predicted to earn and cost, and roles where these are drawn.
data::Plan make_piece(PlanInput& input, const allocate::PlannedUnits& planned, const allocate::Solution& solution);

// A unit that the solver refuses is named by its place; the user knows its id.
template <class Solve>
auto naming_units(PlanInput& input, Solve&& solve) {
  try {
    return solve();
  } catch (const core::Error& error) {
    core::ErrorDetails details = error.details();
    if (!details.where.starts_with("unit ") || details.where.starts_with("unit '")) throw;
    details.where = "unit '" + input.id_of(std::stoull(details.where.substr(5))) + "'";
    throw core::Error(details);
  }
}

// Reads what can be read before the first pass. Throws Error.
std::unique_ptr<PlanInput> open_plan_input(const AllocateRequest& request, core::RunContext& context);

}  // namespace dfcl::verbs
