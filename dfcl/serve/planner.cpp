// SPDX-License-Identifier: Apache-2.0
#include "dfcl/serve/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "dfcl/allocate/arm_spends.h"
#include "dfcl/allocate/exact_sum.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/version.h"
#include "dfcl/data/budgets.h"
#include "dfcl/data/distinct_ids.h"
#include "dfcl/data/id_match.h"
#include "dfcl/data/prediction_facts.h"
#include "dfcl/io/predictions/plan_file.h"
#include "dfcl/io/tensors/safetensors.h"
#include "dfcl/io/trial/unit_labels.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"

namespace dfcl::serve {
namespace {

using core::field_error;

// From this many units on, a path costs more time and memory than solving every budget directly.
constexpr std::size_t kMostSorted = 1'000'000;

// Segments sorted by label, as allocate has them.
void sort_segments(io::PredictionTable& table) {
  std::vector<std::uint32_t> order(table.segments.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return table.segments[a] < table.segments[b]; });
  std::vector<std::uint32_t> place(order.size());
  std::vector<std::string> sorted;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(table.segments[order[i]]);
  }
  for (std::uint32_t& segment : table.segment) segment = place[segment];
  table.segments = std::move(sorted);
}

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
  keys_ = data::id_keys(prediction.ids, context);
  data::require_distinct(prediction.ids, keys_, facts_.source, context);
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
  allocate::PlanPath path(problem);
  const allocate::PathPlan all = path.at_budget(allocate::kNoBudget, context);
  facts_.control_revenue = all.summary.control_revenue;
  facts_.control_cost = all.summary.control_cost;
  facts_.most_spend = all.summary.spend - all.summary.control_cost;
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
    table_.segments = labels.labels;
    for (const std::size_t row : data::match_ids(table_.prediction.ids, labels.ids, *input.units))
      table_.segment.push_back(labels.label[row]);
  }
  sort_segments(table_);
  constexpr std::size_t kMostSegments = 200;
  if (table_.segments.size() > kMostSegments)
    throw field_error("segment", "too many segments for a page", fmt::format("{}", table_.segments.size()),
                      fmt::format("at most {}", kMostSegments));
  facts_.segments = table_.segments;
  facts_.units_per_segment.assign(facts_.segments.size(), 0);
  std::vector<allocate::ExactSum> sums(facts_.segments.size());
  for (std::size_t unit = 0; unit < facts_.num_units; ++unit) {
    ++facts_.units_per_segment[table_.segment[unit]];
    sums[table_.segment[unit]].add(table_.prediction.cost(unit, facts_.control));
  }
  for (std::size_t segment = 0; segment < sums.size(); ++segment) {
    const double units = static_cast<double>(facts_.units_per_segment[segment]);
    segment_control_.push_back(base_rules_.price.empty() ? sums[segment].value()
                                                         : units * base_rules_.price[facts_.control]);
  }
}

allocate::Problem Planner::make_problem(const Settings& settings) const {
  allocate::Problem problem;
  problem.revenue = table_.prediction.revenue.view();
  problem.cost = table_.prediction.cost.view();
  problem.keys = keys_;
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
  return summary;
}

allocate::PlanPath& Planner::path_of(const Settings& settings, std::optional<allocate::PlanPath>& fresh) {
  if (settings.is_coupled() || facts_.num_units >= kMostSorted) return fresh.emplace(make_problem(settings));
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

void Planner::write(const Settings& settings, const std::string& path, const std::atomic<bool>& cancel) {
  core::RunContext context(num_threads_, seed_, nullptr, &cancel);
  const allocate::Problem problem = make_problem(settings);
  allocate::PlanPath plans(problem);
  const allocate::PathPlan plan = plans.at_budget(settings.budget + facts_.control_cost, context);
  if (!plan.summary.has_plan())
    throw core::Error({.kind = core::ErrorKind::infeasible, .what = "there is no plan within these limits"});
  const data::Ids& ids = table_.prediction.ids;
  data::Provenance provenance{"plan", core::version(), "serve", {}};
  provenance.options = {{data::kControlOption, facts_.arms[facts_.control]},
                        {"objective", settings.objective == allocate::Objective::profit ? "profit" : "revenue"},
                        {"per_revenue", fmt::format("{}", settings.worth)},
                        {"min_roi", fmt::format("{}", settings.min_roi)}};
  if (facts_.is_index) provenance.options.emplace_back(data::kIndexOption, "true");
  if (!table_.prediction.model.empty()) provenance.options.emplace_back(data::kModelOption, table_.prediction.model);
  std::optional<io::PlanWriter> writer;
  plans.deliver(
      plan,
      [&](const allocate::PlannedUnits& planned) {
        data::Plan piece;
        piece.arms = facts_.arms;
        std::vector<std::size_t> rows(planned.size());
        std::iota(rows.begin(), rows.end(), planned.units.first_unit);
        piece.ids = ids.chosen(rows);
        piece.arm.assign(planned.arm.begin(), planned.arm.end());
        for (std::size_t row = 0; row < planned.size(); ++row) {
          piece.revenue.push_back(planned.revenue(row));
          piece.cost.push_back(planned.cost(row));
        }
        if (!writer) writer.emplace(path, piece, provenance);
        writer->write(piece);
      },
      context);
  if (writer) writer->commit(report::plan_metadata(summary_of(settings, problem, plan.summary)));
}

}  // namespace dfcl::serve
