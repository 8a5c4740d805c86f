// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/plan_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/field.h"
#include "dfcl/core/parallel.h"
#include "dfcl/data/distinct_ids.h"
#include "dfcl/data/prediction_fingerprint.h"
#include "dfcl/io/predictions/prediction_file.h"
#include "dfcl/io/predictions/prediction_stream.h"
#include "dfcl/io/tables/batch_reader.h"
#include "dfcl/io/trial/unit_labels.h"
#include "dfcl/launch/launch_source.h"
#include "dfcl/model/feature_summary.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/verbs/plan_parts.h"

namespace dfcl::verbs {
namespace {

// What is common to both: facts, rules, the launch, and words about them.
void set_facts(const AllocateRequest& request, const data::PredictionFacts& facts, PlanInput& input,
               core::RunContext& context) {
  input.facts = facts_of(request, facts);
  input.rules = make_rules(request, input.facts);
  if (request.margin || request.per_revenue) {
    input.value = model::RevenueValue{input.rules.margin, request.margin.has_value()};
  } else if (input.model != nullptr) {
    input.value = model::study_value(*input.model);
    input.rules.margin = input.value ? input.value->worth : input.rules.margin;
  }
  input.design = make_design(request, input.rules, context.seed);
  if (input.facts.is_index) {
    input.warnings.emplace_back(
        "these predictions rank units by revenue per cost: revenue here is an index, not money");
  }
  if (input.facts.control_is_guessed) {
    input.warnings.push_back(
        fmt::format("these predictions do not say which arm is control: '{}' is taken; {} names another",
                    input.facts.arms.labels[input.rules.control], core::field_name("control")));
  }
}

std::string words_without_ids(const std::string& where) {
  return fmt::format(
      "{} has no ids: units are called by their row numbers, so the plan belongs to this order of the rows",
      where.empty() ? "the prediction" : where);
}

// Of each segment, control's cost included.
std::vector<double> segment_budgets(const AllocateRequest& request, const std::vector<std::string>& segments,
                                    const std::vector<double>& control_costs, core::RunContext& context) {
  const std::map<std::string, double> budgets = io::read_segment_budgets(*request.segment_budgets, context);
  const bool has_total = !request.totals.empty() || !request.per_unit.empty() || !request.share_of_max.empty();
  std::vector<double> totals;
  for (std::size_t place = 0; place < segments.size(); ++place) {
    const auto budget = budgets.find(segments[place]);
    if (budget == budgets.end() && !has_total) {
      throw core::Error({.kind = core::ErrorKind::data,
                         .what = fmt::format("segment '{}' has no budget, and there is no total", segments[place]),
                         .where = *request.segment_budgets,
                         .expected = "a budget for every segment",
                         .hint = fmt::format("add a row for it, or give {}", core::field_name("budget"))});
    }
    if (budget == budgets.end())
      context.warn(
          fmt::format("segment '{}' has no budget of its own in {}", segments[place], *request.segment_budgets));
    totals.push_back(budget == budgets.end() ? allocate::kNoBudget : budget->second + control_costs[place]);
  }
  return totals;
}

// ---- predictions in memory

class PredictionInMemory final : public PlanInput {
 public:
  PredictionInMemory(const AllocateRequest& request, core::RunContext& context);

  allocate::PlanPath& path() override { return *path_; }
  std::size_t num_units() override { return prediction_->num_units(); }
  allocate::ArmSpends spends() override { return allocate::arm_spends(problem_.cost, rules.price, context_); }
  double control_spend() override;
  data::Ids ids(const allocate::PlannedUnits& planned) override;
  void append_roles(const allocate::PlannedUnits& planned, const allocate::Solution& solution,
                    data::Plan& piece) override;
  std::string id_of(std::size_t unit) override { return prediction_->ids.text(unit); }
  std::uint64_t fingerprint() override { return data::fingerprint_of(*prediction_, context_); }
  RulePlan rule_plan(const allocate::Solution& best) override;

 private:
  void read(const AllocateRequest& request);
  void set_limits(const AllocateRequest& request);
  void set_segments(const AllocateRequest& request);
  void mask_launch();

  core::RunContext& context_;
  std::shared_ptr<const data::Prediction> prediction_;
  std::string where_;                           // path of the predictions or units; "": in memory
  std::string id_column_;                       // of the units of a model
  io::PredictionTable table_;                   // its prediction has moved to the line above
  core::Matrix<std::uint8_t> launch_eligible_;  // units x arms, with roles only: what the launch leaves open
  core::Matrix<float> second_;
  std::vector<std::uint64_t> keys_;
  allocate::Problem problem_;
  std::unique_ptr<allocate::PlanPath> path_;
  std::shared_ptr<const model::Model> model_;  // where a rule is wanted
  std::unique_ptr<RuleUnits> rule_units_;      // once a rule was wanted
};

PredictionInMemory::PredictionInMemory(const AllocateRequest& request, core::RunContext& context) : context_(context) {
  read(request);
  set_facts(request, *prediction_, *this, context);
  carried_from = request.prediction == nullptr ? where_ : "";
  if (!prediction_->extra.empty()) carried = &prediction_->extra;
  has_ids = !prediction_->ids.are_row_numbers();
  if (!has_ids) warnings.push_back(words_without_ids(where_));
  data::require_distinct(prediction_->ids, where_, context);
  keys_ = data::id_keys(prediction_->ids, context);
  problem_.revenue = prediction_->revenue.view();
  problem_.cost = prediction_->cost.view();
  problem_.keys = keys_;
  problem_.rules = rules;
  set_limits(request);
  if (request.segment) set_segments(request);
  if (design.is_on()) mask_launch();
  path_ = std::make_unique<allocate::PlanPath>(problem_);
}

void PredictionInMemory::read(const AllocateRequest& request) {
  where_ = request.units.value_or(request.predictions);
  id_column_ = "id";
  prediction_ = request.prediction;
  if (prediction_ != nullptr) return;
  data::Prediction read;
  if (request.model != nullptr || request.units) {
    model = request.model;
    if (model == nullptr) model = std::make_shared<const model::Model>(model::read_model(request.predictions));
    id_column_ = model->id_column;
    model::FeatureCounts counts(model->summaries);
    read = model::predict_file(*model, *request.units, context_, &counts);
    const std::string drift = model::drift_warning(model::feature_drift(model->features, model->summaries, counts));
    if (request.rule != PlanRule::none) model_ = model;
    has_drifted = !drift.empty();
    if (has_drifted) warnings.push_back(drift);
  } else {
    const bool of_file = request.segment.has_value() && request.segment_labels == nullptr;
    table_ = io::read_prediction(request.predictions, of_file ? *request.segment : "", context_);
    read = std::move(table_.prediction);
  }
  prediction_ = std::make_shared<const data::Prediction>(std::move(read));
}

void PredictionInMemory::set_limits(const AllocateRequest& request) {
  const std::vector<std::string>& arms = facts.arms.labels;
  if (request.eligible) {
    table_.eligible = io::read_eligibility(*request.eligible, arms, prediction_->ids, context_);
  }
  has_eligibility = table_.eligible.rows() > 0;
  if (has_eligibility) problem_.eligible = std::as_const(table_.eligible).view();
  problem_.min_units = read_limits(request.min_units, 0, arms, "min_units");
  problem_.max_units = read_limits(request.max_units, static_cast<std::int64_t>(num_units()), arms, "max_units");
  if (!request.second_budget) return;
  second_ = io::read_second_cost(*request.second_cost, arms, prediction_->ids, context_);
  problem_.second = {std::as_const(second_).view(), *request.second_budget};
}

// The segment of each unit and the budget of each segment.
void PredictionInMemory::set_segments(const AllocateRequest& request) {
  if (request.segment_labels != nullptr || table_.segment.empty()) {
    const io::UnitLabels labels = request.segment_labels != nullptr
                                      ? *request.segment_labels
                                      : io::read_unit_labels(where_, id_column_, *request.segment, context_);
    join_segments(labels, prediction_->ids, where_, table_);
  }
  sort_segments(table_);
  segments = table_.segments;

  const std::vector<double> control = request.include_control ? std::vector<double>(segments.size())
                                                              : segment_control_costs(table_, problem_.cost, rules);
  problem_.segments.budgets = segment_budgets(request, segments, control, context_);
  problem_.segments.of_unit = table_.segment;
}

// Takes from the held-out and explored units every arm but theirs.
void PredictionInMemory::mask_launch() {
  launch_eligible_ = core::Matrix<std::uint8_t>(num_units(), facts.arms.size());
  const std::size_t bytes = launch_eligible_.view().size();
  if (table_.eligible.rows() > 0) {
    std::copy_n(table_.eligible.data(), bytes, launch_eligible_.data());
  } else {
    std::fill_n(launch_eligible_.data(), bytes, std::uint8_t{1});
  }
  launch::mask_launch(design, prediction_->ids, launch_eligible_.view(), context_);
  problem_.eligible = std::as_const(launch_eligible_).view();
}

double PredictionInMemory::control_spend() {
  if (!rules.price.empty()) return static_cast<double>(num_units()) * rules.price[rules.control];
  return core::sum_chunks(
             context_, num_units(), 262'144, allocate::ExactSum{},
             [&](std::size_t begin, std::size_t end) {
               allocate::ExactSum part;
               for (std::size_t unit = begin; unit < end; ++unit) part.add(problem_.cost(unit, rules.control));
               return part;
             },
             [](allocate::ExactSum& total, const allocate::ExactSum& part) { total.add(part); })
      .value();
}

data::Ids PredictionInMemory::ids(const allocate::PlannedUnits& planned) { return planned_ids(*prediction_, planned); }

void PredictionInMemory::append_roles(const allocate::PlannedUnits& planned, const allocate::Solution& solution,
                                      data::Plan& piece) {
  launch::UnitPrices prices{
      .multiplier = solution.multiplier, .arm = solution.arm_multiplier, .second = solution.second_multiplier};
  for (std::size_t row = 0; row < planned.size(); ++row) {
    const std::size_t unit = planned.units.first_unit + row;
    if (!solution.segment_multiplier.empty()) {
      prices.multiplier = solution.multiplier + solution.segment_multiplier[table_.segment[unit]];
    }
    if (problem_.second.cost.rows > 0) prices.second_cost = problem_.second.cost.row(unit);
    launch::UnitRow open{planned.units.revenue.row(row), planned.units.cost.row(row), {}};
    if (table_.eligible.rows() > 0) open.open = table_.eligible.row(unit);
    launch::append_role(design, row, open, rules, prices, piece);
  }
}

RulePlan PredictionInMemory::rule_plan(const allocate::Solution& best) {
  if (rule_units_ == nullptr) rule_units_ = std::make_unique<RuleUnits>(*model_, where_, *prediction_, keys_, context_);
  return rule_units_->follow(problem_, best, context_);
}

// ---- a stream

class PredictionStream final : public PlanInput {
 public:
  PredictionStream(const AllocateRequest& request, core::RunContext& context);

  allocate::PlanPath& path() override { return *path_; }
  std::size_t num_units() override { return path_->ends(context_).num_units; }
  allocate::ArmSpends spends() override {
    return allocate::arm_spends(*source_, facts.arms.labels, rules.price, context_);
  }
  double control_spend() override { return path_->ends(context_).control.spend(allocate::Prices(rules)); }
  data::Ids ids(const allocate::PlannedUnits& planned) override {
    return ids_->ids_of(*planned.batch, planned.units.first_unit);
  }
  void append_roles(const allocate::PlannedUnits& planned, const allocate::Solution& solution,
                    data::Plan& piece) override {
    launch_->append_roles(*planned.batch, rules, solution.multiplier, piece);
  }
  std::string id_of(std::size_t unit) override { return ids_->id_of(unit); }
  std::uint64_t fingerprint() override { return source_->fingerprint(); }
  RulePlan rule_plan(const allocate::Solution&) override {
    throw core::Error({.what = "a rule was asked of a stream"});  // the request was checked
  }

 private:
  core::RunContext& context_;
  data::DistinctIdsSource* ids_ = nullptr;        // inside source_, as the next
  const launch::LaunchSource* launch_ = nullptr;  // null without roles
  std::unique_ptr<data::FingerprintedSource> source_;
  std::unique_ptr<allocate::PlanPath> path_;
};

PredictionStream::PredictionStream(const AllocateRequest& request, core::RunContext& context) : context_(context) {
  set_facts(request, io::read_prediction_facts(request.predictions), *this, context);
  carried_from = request.predictions;
  const std::vector<std::string>& arms = facts.arms.labels;
  std::unique_ptr<data::BatchSource> opened = io::open_prediction(request.predictions, arms, context);
  has_eligibility = std::any_of(opened->columns().begin(), opened->columns().end(),
                                [](const data::ColumnInfo& column) { return column.name.starts_with("eligible_"); });
  if (design.is_on()) {
    auto drawn = std::make_unique<launch::LaunchSource>(std::move(opened), arms, design);
    launch_ = drawn.get();
    opened = std::move(drawn);
  }
  auto distinct = std::make_unique<data::DistinctIdsSource>(std::move(opened), request.predictions, context);
  ids_ = distinct.get();
  has_ids = ids_->has_ids();
  if (!has_ids) warnings.push_back(words_without_ids(request.predictions));
  source_ = std::make_unique<data::FingerprintedSource>(std::move(distinct), arms);
  path_ = std::make_unique<allocate::PlanPath>(*source_, arms, rules, context);
}

// ---- units elsewhere

class PredictionElsewhere final : public PlanInput {
 public:
  PredictionElsewhere(const AllocateRequest& request, core::RunContext& context);

  allocate::PlanPath& path() override { return *path_; }
  std::size_t num_units() override { return path_->ends(context_).num_units; }
  allocate::ArmSpends spends() override;
  double control_spend() override { return path_->ends(context_).control.spend(allocate::Prices(rules)); }
  std::string id_of(std::size_t unit) override { return std::to_string(unit); }
  // Plans are delivered where the units are (plan_elsewhere.h).
  data::Ids ids(const allocate::PlannedUnits&) override { throw not_here(); }
  void append_roles(const allocate::PlannedUnits&, const allocate::Solution&, data::Plan&) override {
    throw not_here();
  }
  std::uint64_t fingerprint() override { throw not_here(); }
  RulePlan rule_plan(const allocate::Solution&) override { throw not_here(); }

 private:
  static core::Error not_here() { return core::Error({.what = "the units are elsewhere"}); }
  std::unique_ptr<allocate::SegmentPaths> segment_paths(const AllocateRequest& request);

  core::RunContext& context_;
  allocate::PassRunner runner_;
  std::unique_ptr<allocate::PlanPath> path_;
};

PredictionElsewhere::PredictionElsewhere(const AllocateRequest& request, core::RunContext& context)
    : context_(context), runner_(request.elsewhere) {
  set_facts(request, io::read_prediction_facts(request.predictions), *this, context);
  const std::vector<std::string> names = io::column_names(request.predictions);
  has_eligibility =
      std::any_of(names.begin(), names.end(), [](const auto& name) { return name.starts_with("eligible_"); });
  if (request.segment) {
    path_ = std::make_unique<allocate::PlanPath>(segment_paths(request), facts.arms.size(), rules);
  } else {
    path_ = std::make_unique<allocate::PlanPath>(runner_, facts.arms.size(), rules);
  }
}

std::unique_ptr<allocate::SegmentPaths> PredictionElsewhere::segment_paths(const AllocateRequest& request) {
  segments = request.segments_elsewhere->labels;
  auto paths = std::make_unique<allocate::SegmentPaths>(runner_, request.segments_elsewhere->run, segments.size(),
                                                        facts.arms.size(), rules);
  std::vector<double> control(segments.size());
  for (std::size_t s = 0; s < segments.size() && !request.include_control; ++s)
    control[s] = paths->ends_of(s, context_).control.spend(allocate::Prices(rules));
  paths->set_budgets(segment_budgets(request, segments, control, context_));
  return paths;
}

allocate::ArmSpends PredictionElsewhere::spends() {
  const allocate::PathPass pass = allocate::PathPass::arm_spends();
  const allocate::Prices prices(rules);
  const allocate::PassPart part = allocate::run_elsewhere(runner_, pass, rules, prices, facts.arms.size());
  allocate::ArmSpends spends{part.num_units(), {}};
  for (std::size_t arm = 0; arm < facts.arms.size(); ++arm) {
    spends.spend.push_back(rules.price.empty() ? part.arm_costs()[arm].value()
                                               : static_cast<double>(part.num_units()) * rules.price[arm]);
  }
  return spends;
}

}  // namespace

data::Plan make_piece(PlanInput& input, const allocate::PlannedUnits& planned, const allocate::Solution& solution) {
  data::Plan piece = planned_rows(input.facts.arms.labels, input.ids(planned), planned);
  if (input.design.is_on()) input.append_roles(planned, solution, piece);
  return piece;
}

std::unique_ptr<PlanInput> open_plan_input(const AllocateRequest& request, core::RunContext& context) {
  if (request.elsewhere) return std::make_unique<PredictionElsewhere>(request, context);
  if (request.stream) return std::make_unique<PredictionStream>(request, context);
  return std::make_unique<PredictionInMemory>(request, context);
}

}  // namespace dfcl::verbs
