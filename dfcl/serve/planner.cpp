// SPDX-License-Identifier: Apache-2.0
#include "dfcl/serve/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "dfcl/allocate/arm_spends.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/data/budgets.h"
#include "dfcl/data/distinct_ids.h"
#include "dfcl/data/prediction_facts.h"
#include "dfcl/data/prediction_fingerprint.h"
#include "dfcl/io/predictions/plan_file.h"
#include "dfcl/io/tables/batch_reader.h"
#include "dfcl/io/tables/carried_columns.h"
#include "dfcl/io/tensors/safetensors.h"
#include "dfcl/io/trial/unit_labels.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/verbs/plan_parts.h"
#include "dfcl/verbs/predict.h"

namespace dfcl::serve {
namespace {

using core::field_error;

// From this many units on, a path costs more time and memory than solving every budget directly.
constexpr std::size_t kMostSorted = 1'000'000;

// Settings whose plans lie on one path.
bool share_path(const Settings& one, Settings other) {
  other.budget = one.budget;
  return one == other;
}

}  // namespace

Planner::Planner(const PlannerInput& input, core::RunContext& context)
    : num_threads_(context.pool.threads()), seed_(context.seed) {
  read(input, context);
  const data::Prediction& prediction = table_.prediction;
  io::release_read_memory();
  data::require_distinct(prediction.ids, facts_.source, context);
  if (facts_.num_units < kMostSorted) keys_ = data::id_keys(prediction.ids, context);
  if (input.segment) read_segments(input, context);
  const std::vector<std::string>& arms = prediction.arms.labels;
  if (input.eligible) table_.eligible = io::read_eligibility(*input.eligible, arms, prediction.ids, context);
  facts_.has_eligibility = table_.eligible.rows() > 0;
  const allocate::Problem problem = make_problem({});
  if (input.second_cost) {
    second_ = io::read_second_cost(*input.second_cost, arms, prediction.ids, context);
    facts_.has_second = true;
    const allocate::ArmSpends uses = allocate::arm_spends(std::as_const(second_).view(), {}, context);
    facts_.most_second = *std::max_element(uses.spend.begin(), uses.spend.end());
  }
  allocate::PlanPath path(problem, allocate::PlanPath::Form::one_budget);
  const allocate::PathPlan all = path.at_budget(allocate::kNoBudget, context);
  facts_.control_revenue = all.summary.control_revenue;
  facts_.control_cost = all.summary.control_cost;
  facts_.most_spend = all.summary.spend - all.summary.control_cost;
  io::release_read_memory();
}

void Planner::read(const PlannerInput& input, core::RunContext& context) {
  facts_.source = input.units.value_or(input.predictions);
  if (io::is_safetensors(input.predictions)) {
    if (!input.units)
      throw field_error("units", fmt::format("{} is a model: plan for which units?", input.predictions));
    table_.prediction = model::predict_file(model::read_model(input.predictions), *input.units, context, nullptr);
  } else {
    if (input.units)
      throw field_error("units", fmt::format("{} is not a model, so it takes no units", input.predictions));
    table_ = io::read_prediction(input.predictions, input.segment.value_or(""), context);
  }
  data::Prediction& prediction = table_.prediction;
  data::apply_said({.control = input.control.value_or(""), .is_index = std::nullopt}, prediction);
  facts_.arms = prediction.arms.labels;
  facts_.control = prediction.arms.control;
  facts_.num_units = prediction.num_units();
  facts_.is_index = prediction.is_index;
  facts_.worth = input.worth;
  facts_.words = data::report_words(prediction);
  segment_column_ = input.segment.value_or("");
  if (prediction.extra.empty() && !prediction.carry.empty()) {
    verbs::require_carried(prediction.carry);
    prediction.extra = io::CarriedColumns(facts_.source, prediction.carry, context).take(facts_.num_units);
  }
  base_rules_.control = prediction.arms.control;
  base_rules_.price = prediction.price;
  if (prediction.is_index) {
    facts_.warnings.emplace_back(
        "These predictions rank units by revenue per cost: revenue here is an index, not money.");
  }
  if (prediction.control_is_guessed) {
    facts_.warnings.push_back(
        fmt::format("The predictions do not say which arm is control: '{}' is taken.", facts_.arms[facts_.control]));
  }
}

void Planner::read_segments(const PlannerInput& input, core::RunContext& context) {
  if (input.units) {
    const std::string id_column = model::read_model(input.predictions).id_column;
    const io::UnitLabels labels = io::read_unit_labels(*input.units, id_column, *input.segment, context);
    verbs::join_segments(labels, table_.prediction.ids, *input.units, table_);
  }
  verbs::sort_segments(table_);
  constexpr std::size_t kMostSegments = 200;
  if (table_.segments.size() > kMostSegments)
    throw field_error("segment", "too many segments for a page", fmt::format("{}", table_.segments.size()),
                      fmt::format("at most {}", kMostSegments));
  facts_.segments = table_.segments;
  facts_.units_per_segment.assign(facts_.segments.size(), 0);
  for (const std::uint32_t segment : table_.segment) ++facts_.units_per_segment[segment];
  segment_control_ = verbs::segment_control_costs(table_, std::as_const(table_.prediction.cost).view(), base_rules_);
}

allocate::Problem Planner::make_problem(const Settings& settings) const {
  allocate::Problem problem;
  problem.revenue = table_.prediction.revenue.view();
  problem.cost = table_.prediction.cost.view();
  problem.keys = keys_.empty() ? allocate::UnitKeys(table_.prediction.ids) : allocate::UnitKeys(keys_);
  problem.rules = base_rules_;
  problem.rules.objective = settings.objective;
  problem.rules.margin = settings.worth;
  problem.rules.min_roi = settings.min_roi;
  if (facts_.has_eligibility && settings.keep_eligibility) problem.eligible = table_.eligible.view();
  problem.min_units = settings.min_units;
  problem.max_units = settings.max_units;
  for (std::int64_t& most : problem.max_units) {
    if (most < 0) most = static_cast<std::int64_t>(facts_.num_units);
  }
  if (!settings.segment_budgets.empty()) {
    problem.segments.of_unit = table_.segment;
    for (std::size_t segment = 0; segment < settings.segment_budgets.size(); ++segment)
      problem.segments.budgets.push_back(settings.segment_budgets[segment] + segment_control_[segment]);
  }
  if (settings.second_budget != allocate::kNoBudget) problem.second = {second_.view(), settings.second_budget};
  return problem;
}

report::PlanSummary Planner::summary_of(const Settings& settings, const allocate::Problem& problem,
                                        const allocate::Solution& solution) const {
  report::PlanSummary summary;
  summary.solution = solution;
  summary.solution.arm = {};
  summary.num_units = facts_.num_units;
  summary.arms = facts_.arms;
  if (!settings.segment_budgets.empty()) summary.segments = facts_.segments;
  summary.rules = problem.rules;
  summary.shows_profit = true;
  summary.budget = settings.budget;
  summary.budget_basis = data::BudgetBasis::incremental;
  summary.has_second = settings.second_budget != allocate::kNoBudget;
  summary.words = facts_.words;
  return summary;
}

allocate::PlanPath& Planner::path_of(const Settings& settings, std::optional<allocate::PlanPath>& fresh) {
  if (settings.is_coupled() || facts_.num_units >= kMostSorted)
    return fresh.emplace(make_problem(settings), allocate::PlanPath::Form::one_budget);
  if (!kept_settings_ || !share_path(*kept_settings_, settings)) {
    kept_settings_.reset();
    kept_path_.emplace(make_problem(settings));
    kept_settings_ = settings;
  }
  return *kept_path_;
}

std::vector<std::vector<std::size_t>> Planner::moves_to(const std::vector<std::uint8_t>& arm) const {
  std::vector<std::vector<std::size_t>> moves(facts_.arms.size(), std::vector<std::size_t>(facts_.arms.size()));
  for (std::size_t unit = 0; unit < arm.size(); ++unit) ++moves[pinned_[unit]][arm[unit]];
  return moves;
}

PlannerAnswer Planner::solve(const SolveRequest& request, const std::atomic<bool>& cancel) {
  core::RunContext context(num_threads_, seed_, nullptr, &cancel);
  const Settings& settings = request.settings;
  std::optional<allocate::PlanPath> fresh;
  allocate::PlanPath& path = path_of(settings, fresh);
  // Where an answer is given up, so is what was half made for it.
  struct Forget {
    Planner& planner;
    bool done = false;
    ~Forget() {
      if (!done) planner.kept_settings_.reset();
    }
  } forget{*this};
  const allocate::PathPlan plan = path.at_budget(settings.budget + facts_.control_cost, context);
  PlannerAnswer answer{summary_of(settings, make_problem(settings), plan.summary)};
  if (plan.summary.has_plan() && (request.pin || !pinned_.empty())) {
    std::vector<std::uint8_t> arm = path.arms(plan, context);
    if (!pinned_.empty()) answer.moves = moves_to(arm);
    if (request.pin) pinned_ = std::move(arm);
  }
  forget.done = true;
  return answer;
}

// As allocate with the same settings has it.
data::Provenance Planner::provenance_of(const Settings& settings, const allocate::Problem& problem) const {
  data::Provenance provenance = verbs::plan_provenance("serve", table_.prediction, problem.rules);
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) provenance.options.emplace_back(name, value);
  };
  const auto limits = [&](const std::vector<std::int64_t>& units, std::int64_t unset) {
    std::vector<std::string> entries;
    for (std::size_t arm = 0; arm < units.size(); ++arm) {
      if (units[arm] != unset) entries.push_back(fmt::format("{}={}", facts_.arms[arm], units[arm]));
    }
    return fmt::format("{}", fmt::join(entries, ","));
  };
  add("per_revenue", fmt::format("{}", settings.worth));
  if (settings.min_roi > 0.0) add("min_roi", fmt::format("{}", settings.min_roi));
  if (!settings.segment_budgets.empty()) add("segment", segment_column_);
  add("min_units", limits(settings.min_units, 0));
  add("max_units", limits(settings.max_units, -1));
  if (settings.second_budget != allocate::kNoBudget) add("second_budget", fmt::format("{}", settings.second_budget));
  return provenance;
}

void Planner::write(const Settings& settings, const std::string& path, const std::atomic<bool>& cancel) {
  core::RunContext context(num_threads_, seed_, nullptr, &cancel);
  const allocate::Problem problem = make_problem(settings);
  allocate::PlanPath plans(problem, allocate::PlanPath::Form::one_budget);
  const allocate::PathPlan plan = plans.at_budget(settings.budget + facts_.control_cost, context);
  if (!plan.summary.has_plan())
    throw core::Error({.kind = core::ErrorKind::infeasible, .what = "there is no plan within these limits"});
  const data::Prediction& prediction = table_.prediction;
  std::optional<io::PlanWriter> writer;
  plans.deliver(
      plan,
      [&](const allocate::PlannedUnits& planned) {
        data::Plan piece = verbs::planned_rows(facts_.arms, verbs::planned_ids(prediction, planned), planned);
        if (!prediction.extra.empty()) piece.extra = verbs::planned_extras(prediction.extra, planned);
        if (!writer) writer.emplace(path, piece, provenance_of(settings, problem));
        writer->write(piece);
      },
      context);
  if (!writer) return;
  const std::uint64_t fingerprint = data::fingerprint_of(prediction, context);
  writer->commit(verbs::plan_figures(summary_of(settings, problem, plan.summary), fingerprint));
}

}  // namespace dfcl::serve
