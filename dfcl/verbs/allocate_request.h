// SPDX-License-Identifier: Apache-2.0
//
// What a caller can ask of allocate: predictions or a model, a budget, limits, a launch. Checked in one place and
// turned into the words of the solver.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/allocate/allocate.h"
#include "dfcl/allocate/path_scans.h"
#include "dfcl/allocate/segment_paths.h"
#include "dfcl/data/prediction.h"
#include "dfcl/io/trial/unit_labels.h"
#include "dfcl/launch/launch_design.h"
#include "dfcl/model/model.h"
#include "dfcl/verbs/words.h"

namespace dfcl::verbs {

// The plan of units elsewhere, as whoever has them is told it (allocate::PathCut::to_bytes).
struct CutElsewhere {
  std::string cut;
  double multiplier = 0.0;  // of the budget, that of the segment included
};

// Segments of units elsewhere.
struct SegmentsElsewhere {
  std::vector<std::string> labels;  // rising
  allocate::SegmentRunner run;
};

struct AllocateRequest {
  std::string predictions;           // path; or a model's
  std::optional<std::string> units;  // path, for a model; for predictions in memory, where `segment` stands beside `id`
  // Instead of the path `predictions`, what is in memory.
  std::shared_ptr<const data::Prediction> prediction;
  std::shared_ptr<const model::Model> model;
  std::optional<std::string> output;  // path of the plan; none: it is not written
  bool keep_plans = false;            // return the plans too
  std::vector<double> totals;
  std::vector<double> per_unit;
  std::vector<double> share_of_max;  // of the way from control to the costliest arm, by the means of the predictions
  bool include_control = false;      // budgets are totals, control's cost included; else spend above control
  std::optional<double> multiplier;
  std::optional<std::int64_t> curve;  // points
  std::optional<std::string> control;
  bool index = false;  // the predictions, which do not say it, hold an index
  allocate::Objective objective = allocate::Objective::revenue;
  // What revenue is worth, in one of two ways: shows profit, and is what `objective` profit makes large (1: neither).
  std::optional<double> margin;
  std::optional<double> per_revenue;
  std::optional<double> min_roi;
  std::optional<std::string> eligible;                   // path, here and below
  std::optional<std::string> segment;                    // column of the predictions, or of the units of a model
  std::shared_ptr<const io::UnitLabels> segment_labels;  // instead of a column: in memory, joined by id
  std::optional<std::string> segment_budgets;
  std::optional<std::string> second_cost;
  std::optional<double> second_budget;
  std::vector<std::string> min_units;  // ARM=N
  std::vector<std::string> max_units;
  bool stream = false;
  std::optional<std::string> memory;  // at most, "2GB": streams, keeps fewer threads or refuses (memory_limit.h)
  // The units are elsewhere, on many machines say: `predictions` is a table without rows that names their columns and
  // facts, and this runs passes over them (allocate/path_scans.h). Null: they are here.
  allocate::PassRunner elsewhere;
  std::optional<SegmentsElsewhere> segments_elsewhere;  // where there are segments
  // Of units elsewhere, what each role earns and spends (launch::RoleSums::to_bytes) under a plan: one cut, or one for
  // each segment.
  std::function<std::string(const std::vector<CutElsewhere>& cuts)> roles_elsewhere;
  PlanRule rule = PlanRule::none;  // tree: a model's plan as a short rule over the features of the units
  double holdout = 0.0;
  double explore = 0.0;
  std::optional<std::string> holdout_salt;
  std::optional<std::string> launch;  // the time of the launch
  std::optional<std::string> previous;
  bool explain = false;  // why each unit: columns of the plan; for a model and its units

  bool has_roles() const { return holdout > 0.0 || explore > 0.0; }
  // Limits that tie units to each other beyond one budget.
  bool is_coupled() const { return segment || second_cost || !min_units.empty() || !max_units.empty(); }
};

// Throws Error of kind usage where parts of the request contradict each other.
void check_request(const AllocateRequest& request, const core::RunContext& context);

allocate::Rules make_rules(const AllocateRequest& request, const data::PredictionFacts& facts);

// What the predictions are, with what the request says of them.
data::PredictionFacts facts_of(const AllocateRequest& request, data::PredictionFacts facts);

launch::LaunchDesign make_design(const AllocateRequest& request, const allocate::Rules& rules, std::uint64_t seed);

// From "ARM=N" entries to a limit for each arm.
std::vector<std::int64_t> read_limits(const std::vector<std::string>& entries, std::int64_t unset,
                                      const std::vector<std::string>& arms, const char* field);

// The file of the i-th of several plans: plan-1.parquet, plan-2.parquet, ...; of one plan the output itself.
std::string plan_name(const std::string& output, std::size_t index, std::size_t count);

}  // namespace dfcl::verbs
