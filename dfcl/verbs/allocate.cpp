// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/allocate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "dfcl/core/error.h"
#include "dfcl/data/budgets.h"
#include "dfcl/data/prediction_facts.h"
#include "dfcl/io/predictions/plan_file.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tables/carried_columns.h"
#include "dfcl/launch/launch_design.h"
#include "dfcl/launch/plan_changes.h"
#include "dfcl/launch/role_sums.h"
#include "dfcl/verbs/memory_limit.h"
#include "dfcl/verbs/memory_needs.h"
#include "dfcl/verbs/plan_input.h"
#include "dfcl/verbs/plan_parts.h"
#include "dfcl/verbs/plan_promise.h"
#include "dfcl/verbs/plan_reasons.h"
#include "dfcl/verbs/predict.h"

namespace dfcl::verbs {
namespace {

class Clock {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// One for each budget of the request; one without limit where there is none.
std::vector<data::PlanBudget> request_budgets(const AllocateRequest& request, PlanInput& input) {
  const data::BudgetBasis basis = request.include_control ? data::BudgetBasis::total : data::BudgetBasis::incremental;
  if (request.totals.empty() && request.per_unit.empty() && request.share_of_max.empty())
    return {{allocate::kNoBudget, allocate::kNoBudget}};
  data::UnitSpends spends;
  if (!request.per_unit.empty()) spends.num_units = input.num_units();
  if (!request.share_of_max.empty()) {
    const allocate::ArmSpends by_arm = input.spends();
    spends.in_control = by_arm.spend[input.rules.control];
    spends.in_costliest = *std::max_element(by_arm.spend.begin(), by_arm.spend.end());
  } else if (!request.include_control) {
    spends.in_control = input.control_spend();
  }
  return data::plan_budgets({request.per_unit, request.totals, request.share_of_max, basis}, spends);
}

data::Provenance request_provenance(const AllocateRequest& request, const PlanInput& input, std::uint64_t seed) {
  const allocate::Rules& rules = input.rules;
  data::Provenance provenance = plan_provenance("allocate", input.facts, rules);
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) provenance.options.emplace_back(name, value);
  };
  const bool has_value = input.value || rules.objective == allocate::Objective::profit;
  if (has_value)
    add(input.value && !input.value->is_margin ? "per_revenue" : "margin", fmt::format("{}", rules.margin));
  if (request.rule != PlanRule::none) add("rule", std::string(core::to_word(request.rule)));
  if (request.min_roi) add("min_roi", fmt::format("{}", *request.min_roi));
  add("segment", request.segment.value_or(""));
  add("min_units", fmt::format("{}", fmt::join(request.min_units, ",")));
  add("max_units", fmt::format("{}", fmt::join(request.max_units, ",")));
  if (request.second_budget) add("second_budget", fmt::format("{}", *request.second_budget));
  if (request.has_roles()) {
    add("holdout", fmt::format("{}", request.holdout));
    add("holdout_salt", request.holdout_salt.value_or(""));
    add("explore", fmt::format("{}", request.explore));
    if (request.explore > 0.0) add("seed", fmt::format("{}", seed));
  }
  return provenance;
}

// How predicted spend answers to the multiplier; only where the multiplier alone makes the plan.
double elasticity_at(const AllocateRequest& request, const allocate::Solution& solution, allocate::PlanPath& path,
                     core::RunContext& context) {
  if (request.is_coupled() || !(solution.multiplier > 0.0)) return std::nan("");
  constexpr double kStep = 1.25;
  const auto spend_at = [&](double price) { return path.at_multiplier(price, context).summary.spend; };
  return launch::spend_elasticity(spend_at(solution.multiplier / kStep), spend_at(solution.multiplier * kStep),
                                  kStep * kStep);
}

// What a plan has beside arms: columns of the units that travel along, and reasons.
class PlanExtras {
 public:
  PlanExtras(const AllocateRequest& request, PlanInput& input, const allocate::PathPlan& plan,
             core::RunContext& context)
      : in_memory_(input.carried) {
    const std::vector<std::string>& carry = input.facts.carry;
    require_carried(carry);
    if (in_memory_ == nullptr && !carry.empty() && !input.carried_from.empty())
      file_.emplace(input.carried_from, carry, context);
    if (!request.explain) return;
    constexpr std::size_t kCurvePoints = 257;  // a distance to the cut is right to 1/256 of what can be spent
    reasons_.emplace(*input.model, *request.units, input.rules, plan.summary, input.path().curve(kCurvePoints, context),
                     context);
  }

  void add(const allocate::PlannedUnits& planned, data::Plan& piece) {
    if (file_) piece.extra = file_->take(planned.size());
    if (in_memory_ != nullptr) piece.extra = planned_extras(*in_memory_, planned);
    if (reasons_) reasons_->add(planned, piece);
  }

 private:
  const data::ExtraColumns* in_memory_;
  std::optional<io::CarriedColumns> file_;
  std::optional<PlanReasons> reasons_;
};

// Hands the units of a plan to everyone who asked for them: the file, the caller, the totals by role, the changes.
void deliver(const AllocateRequest& request, PlanInput& input, allocate::PlanPath& path, const allocate::PathPlan& plan,
             const std::string& file, const std::optional<io::PlanFile>& previous, core::RunContext& context,
             report::PlanSummary& figures, KeptPlan* kept) {
  std::optional<io::PlanWriter> writer;
  std::optional<launch::PlanChanges> changes;
  if (previous) changes.emplace(previous->plan, input.facts.arms.labels);
  launch::RoleSums roles;
  data::Plan whole;
  const data::Provenance provenance = request_provenance(request, input, context.seed);
  PlanExtras extras(request, input, plan, context);
  path.deliver(
      plan,
      [&](const allocate::PlannedUnits& planned) {
        data::Plan piece = make_piece(input, planned, plan.summary);
        extras.add(planned, piece);
        roles.add(piece);
        if (changes) changes->add(piece);
        if (kept != nullptr) append_plan(piece, whole);
        if (file.empty()) return;
        if (!writer) writer.emplace(file, piece, provenance);
        writer->write(piece);
      },
      context);
  if (figures.launch) figures.launch->roles = roles.totals();
  figures.promise = make_promise(request, input, figures);
  if (changes) figures.change = changes->result();
  figures.file = writer ? file : "";
  const auto said = writer || kept != nullptr ? plan_figures(figures, input.fingerprint())
                                              : std::vector<std::pair<std::string, std::string>>{};
  if (writer) writer->commit(said);
  if (kept != nullptr) *kept = {std::make_shared<const data::Plan>(std::move(whole)), provenance, said};
}

report::PlanSummary empty_figures(const AllocateRequest& request, const PlanInput& input) {
  report::PlanSummary figures;
  figures.arms = input.facts.arms.labels;
  figures.segments = input.segments;
  figures.rules = input.rules;
  figures.shows_profit = input.value || input.rules.objective == allocate::Objective::profit;
  figures.has_second = request.second_budget.has_value();
  figures.launch_time = request.launch.value_or("");
  figures.budget_basis = request.include_control ? data::BudgetBasis::total : data::BudgetBasis::incremental;
  return figures;
}

// What whoever has the units needs to give each its arm.
std::vector<CutElsewhere> cuts_elsewhere(const allocate::PathPlan& plan) {
  const allocate::Solution& solution = plan.summary;
  if (plan.segment_cuts.empty()) return {{plan.cut.to_bytes(), solution.multiplier}};
  std::vector<CutElsewhere> cuts;
  for (std::size_t s = 0; s < plan.segment_cuts.size(); ++s)
    cuts.push_back({plan.segment_cuts[s].to_bytes(), solution.multiplier + solution.segment_multiplier[s]});
  return cuts;
}

allocate::Curve make_curve(const AllocateRequest& request, PlanInput& input, core::RunContext& context) {
  const std::vector<std::string>& arms = input.facts.arms.labels;
  allocate::Curve curve =
      naming_units(input, [&] { return input.path().curve(static_cast<std::size_t>(*request.curve), context); });
  const bool json_file = request.output && request.output->ends_with(".json");
  if (request.output)
    io::write_text_file(*request.output, json_file ? report::curve_json(curve, arms) : report::curve_csv(curve, arms));
  return curve;
}

}  // namespace

bool AllocateResult::all_met() const {
  return std::all_of(plans.begin(), plans.end(), [](const auto& plan) { return plan.solution.has_plan(); });
}

AllocateResult allocate(const AllocateRequest& asked, core::RunContext& context) {
  check_request(asked, context);
  AllocateRequest request = asked;
  if (request.memory && keep_within(*request.memory, allocate_needs(request), context)) request.stream = true;
  Clock clock;
  std::optional<io::PlanFile> previous;
  if (request.previous) previous = io::read_plan(*request.previous, context);
  const std::unique_ptr<PlanInput> input = open_plan_input(request, context);
  AllocateResult result;
  result.arms = input->facts.arms.labels;
  result.words = data::report_words(input->facts);
  if (request.curve) {
    result.curve = make_curve(request, *input, context);
    for (const std::string& warning : input->warnings) context.warn(warning);
    return result;
  }
  const std::vector<data::PlanBudget> budgets = naming_units(*input, [&] { return request_budgets(request, *input); });
  const double read_seconds = clock.lap();
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    report::PlanSummary figures = empty_figures(request, *input);
    figures.budget = budgets[i].asked;
    figures.words = result.words;
    figures.seconds.read = read_seconds;
    allocate::PathPlan plan = naming_units(*input, [&] {
      return request.multiplier ? input->path().at_multiplier(*request.multiplier, context)
                                : input->path().at_budget(budgets[i].total, context);
    });
    if (i == 0) {  // not before it is known that there will be an answer
      for (const std::string& warning : input->warnings) context.warn(warning);
    }
    std::optional<RulePlan> rule;
    if (request.rule == PlanRule::tree && plan.summary.has_plan()) {
      if (request.multiplier) plan.summary.budget = allocate::kNoBudget;  // the price alone decides
      rule = input->rule_plan(plan.summary);
      figures.rule = rule->rule;
      plan = rule->plan;
    }
    figures.solution = plan.summary;
    figures.solution.arm = {};
    figures.num_units = input->num_units();
    const bool has_plan = plan.summary.has_plan();
    if (input->design.is_on() && has_plan) {
      figures.launch = {input->design, {}, elasticity_at(request, plan.summary, input->path(), context)};
    }
    figures.seconds.solve = clock.lap();
    KeptPlan kept;
    const bool is_wanted = request.output || request.keep_plans || input->design.is_on() || previous;
    if (request.elsewhere) result.cuts.push_back(has_plan ? cuts_elsewhere(plan) : std::vector<CutElsewhere>());
    if (request.elsewhere && figures.launch) {
      const std::string sums = request.roles_elsewhere(result.cuts.back());
      figures.launch->roles = launch::RoleSums::from_bytes(sums).totals();
    }
    if (has_plan && is_wanted && !request.elsewhere) {
      deliver(request, *input, rule ? *rule->path : input->path(), plan,
              plan_name(request.output.value_or(""), i, budgets.size()), previous, context, figures,
              request.keep_plans ? &kept : nullptr);
    } else if (has_plan) {
      figures.promise = make_promise(request, *input, figures);
    }
    warn_of_promise(figures, budgets.size() > 1, context);
    figures.seconds.write = clock.lap();
    result.plans.push_back(std::move(figures));
    if (request.keep_plans && !request.elsewhere) result.kept.push_back(std::move(kept));
  }
  return result;
}

void write_plan(const std::string& path, const KeptPlan& plan) {
  io::PlanWriter writer(path, *plan.plan, plan.provenance);
  writer.write(*plan.plan);
  writer.commit(plan.figures);
}

}  // namespace dfcl::verbs
