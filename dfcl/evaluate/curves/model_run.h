// SPDX-License-Identifier: Apache-2.0
//
// One model's plans: where its path is cut, what each plan is estimated to earn and cost, how these spread, and who
// gets what. Internal to the room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dfcl/evaluate/curves/setting.h"

namespace dfcl::evaluate {

struct PlanSpread {  // standard deviations per unit
  double revenue = 0.0;
  double cost = 0.0;
  double increment = 0.0;             // of incremental revenue
  double extra_cost = 0.0;            // of cost less control's
  double increment_extra_cost = 0.0;  // covariance
};
PlanSpread spread_of(const PlanSeries& plan, const PlanSeries& control, SeriesKind kind);

// One plan.
struct PlanRun {
  double budget_per_unit = 0.0;
  Cut cut;
  PlanEstimate estimate;
  PlanSeries series;  // by resampling only
  PlanSpread spread;
  std::vector<double> share_per_arm;
  std::optional<PlanEstimate> truth;
  std::vector<std::vector<PlanEstimate>> segments;               // deployed only: per column and value
  std::vector<std::vector<std::vector<double>>> segment_shares;  // per column, value and arm
  std::optional<HajekFigures> hajek = {};                        // deployed only
  std::optional<PolicyTreeFigures> tree = {};                    // deployed only
  std::vector<GuardrailEstimate> guardrails = {};                // deployed only
};

// How a plan less another spreads: variances and covariance of the differences in revenue and cost.
struct ContrastSpread {
  double revenue = 0.0;
  double cost = 0.0;
  double covariance = 0.0;

  double deviation(double a, double b) const;  // of a x difference in revenue + b x difference in cost
};
ContrastSpread contrast_spread(const PlanSeries& plan, const PlanSeries& other, SeriesKind kind);

struct Baselines;

struct ModelRun {
  std::vector<PlanRun> deployed;                       // budgets rising
  std::vector<PlanRun> matched;                        // budgets rising
  std::vector<PlanRun> curve;                          // budgets rising
  std::vector<std::vector<std::uint8_t>> plans;        // arm per row, per budget: for analytic intervals only
  std::vector<std::vector<ContrastSpread>> contrasts;  // per baseline and budget
};

// baselines: null for a baseline, whose plans are not matched.
ModelRun run_model(const Setting& setting, const JudgedModel& model, const Baselines* baselines);

// The deployed plans and the curve as they are cut, and who gets what; they are not judged.
void cut_plans(const Setting& setting, PredictedPath& path, ModelRun& run);

// How much each row moves the figures of a plan (arm per row), where intervals are analytic.
PlanSeries influence_for(const Setting& setting, std::span<const std::uint8_t> arm);

// Mean outcomes of a plan, as predicted or true, by sample weight.
PlanEstimate mean_under(const Outcomes& outcomes, std::span<const std::uint8_t> plan, const TrialRows& rows,
                        core::RunContext& context);

}  // namespace dfcl::evaluate
