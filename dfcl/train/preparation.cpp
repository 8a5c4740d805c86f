// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/preparation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/learn/known_costs.h"
#include "dfcl/train/start_model.h"

namespace dfcl::train {
namespace {

using loss::OutcomeKind;

void choose_rows(const data::Trial& trial, Preparation& prepared) {
  prepared.is_training.resize(trial.num_units());
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    const bool train = trial.split[unit] == data::Split::train;
    prepared.is_training[unit] = train ? 1 : 0;
    if (train) prepared.train_rows.push_back(static_cast<std::uint32_t>(unit));
    if (trial.split[unit] == data::Split::validation)
      prepared.validation_rows.push_back(static_cast<std::uint32_t>(unit));
  }
}

void weigh(const data::Trial& trial, Preparation& prepared) {
  std::vector<double> counts(trial.arms.size());
  double total = 0.0;
  for (const std::uint32_t unit : prepared.train_rows) total += trial.sample_weight(unit);
  const double factor = static_cast<double>(prepared.train_rows.size()) / total;
  for (std::size_t unit = 0; unit < trial.weight.size(); ++unit)
    prepared.sample.push_back(static_cast<float>(trial.sample_weight(unit) * factor));
  const auto sample = [&](std::size_t unit) {
    return prepared.sample.empty() ? 1.0 : static_cast<double>(prepared.sample[unit]);
  };
  for (const std::uint32_t unit : prepared.train_rows) counts[trial.arm[unit]] += sample(unit);
  for (std::size_t arm = 0; arm < counts.size(); ++arm) {
    if (counts[arm] == 0.0) {
      throw core::Error({.kind = core::ErrorKind::data,
                         .what = fmt::format("no training units in arm '{}'", trial.arms.labels[arm]),
                         .where = "[split]",
                         .hint = "give the training part a larger share"});
    }
  }
  total = static_cast<double>(prepared.train_rows.size());
  prepared.weight.resize(trial.num_units());
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    const double propensity =
        trial.propensity.empty() ? counts[trial.arm[unit]] / total : static_cast<double>(trial.propensity[unit]);
    prepared.weight[unit] = static_cast<float>(sample(unit) / propensity);
  }
}

struct Range {
  double low = 0.0;
  bool only_zero_one = true;
  double not_zero_one = 0.0;  // the first value that is neither
  double mean = 0.0;
  double deviation = 0.0;
};

Range range_of(std::span<const float> values, std::span<const std::uint32_t> rows) {
  Range range;
  range.low = static_cast<double>(values[rows.front()]);
  double sum = 0.0;
  for (const std::uint32_t row : rows) {
    const double value = static_cast<double>(values[row]);
    range.low = std::min(range.low, value);
    if (range.only_zero_one && value != 0.0 && value != 1.0) {
      range.only_zero_one = false;
      range.not_zero_one = value;
    }
    sum += value;
  }
  range.mean = sum / static_cast<double>(rows.size());
  double squares = 0.0;
  for (const std::uint32_t row : rows) squares += std::pow(static_cast<double>(values[row]) - range.mean, 2);
  range.deviation = std::sqrt(squares / static_cast<double>(rows.size()));
  return range;
}

// 0/1 outcomes are binary, others without a negative value get the log link, or squared error as published; the study
// can say otherwise.
OutcomeKind kind_of(const Range& range, const std::optional<std::string>& declared, const char* outcome,
                    bool as_published) {
  if (!declared) {
    if (range.only_zero_one) return OutcomeKind::binary;
    return range.low >= 0.0 && !as_published ? OutcomeKind::non_negative : OutcomeKind::real;
  }
  const std::string field = fmt::format("network.{}_kind", outcome);
  if (declared == "real") return OutcomeKind::real;
  if (declared == "non_negative" && range.low >= 0.0) return OutcomeKind::non_negative;
  if (declared == "binary" && range.only_zero_one) return OutcomeKind::binary;
  const double value = declared == "binary" ? range.not_zero_one : range.low;
  throw core::field_error(field, fmt::format("the {} of the training units is not {}", outcome, *declared),
                          fmt::format("a value of {}", value));
}

// The study's word, or that of the model that training starts from; null: there is none.
std::optional<std::string> declared_kind(const std::optional<std::string>& declared, const learn::OutcomeFacts* start,
                                         const char* outcome) {
  if (start == nullptr) return declared;
  const std::string known = start->kind == OutcomeKind::binary         ? "binary"
                            : start->kind == OutcomeKind::non_negative ? "non_negative"
                                                                       : "real";
  if (declared && *declared != known)
    throw core::field_error(fmt::format("network.{}_kind", outcome), "the starting model has another kind of outcome",
                            fmt::format("'{}'", *declared), fmt::format("'{}'", known));
  return known;
}

// Section 4 of docs/method.md. Cost is never centred: what costs nothing must stay at zero.
learn::OutcomeScale scale_of(const Range& range, OutcomeKind kind, bool center) {
  if (kind == OutcomeKind::binary) return {};
  const double scale = kind == OutcomeKind::non_negative ? range.mean : range.deviation;
  return {kind == OutcomeKind::real && center ? range.mean : 0.0, scale > 0.0 ? scale : 1.0};
}

core::Column<float> scaled(const core::Column<float>& values, const learn::OutcomeScale& scale,
                           const core::RunContext& context) {
  core::Column<float> result(context.scratch());
  result.resize(values.size());
  for (std::size_t unit = 0; unit < values.size(); ++unit) {
    result[unit] = static_cast<float>((static_cast<double>(values[unit]) - scale.center) / scale.scale);
  }
  return result;
}

bool names(const std::vector<std::string>& list, const char* outcome) {
  return std::find(list.begin(), list.end(), outcome) != list.end();
}

learn::ArmShape shape_of(const data::Study::Method& options, const char* outcome, bool rises) {
  if (names(options.concave, outcome)) return learn::ArmShape::concave;
  return rises || names(options.monotone, outcome) ? learn::ArmShape::monotone : learn::ArmShape::plain;
}

// Whether the units to learn from say it: of so many in control each cost exactly 0.
bool costs_nothing_in_control(const data::Trial& trial) {
  constexpr std::size_t kLeastUnits = 30;
  std::size_t num_units = 0;
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    if (trial.arm[unit] != trial.arms.control || trial.split[unit] == data::Split::test) continue;
    if (trial.cost[unit] != 0.0f) return false;
    ++num_units;
  }
  return num_units >= kLeastUnits;
}

// Prices or rates say so, also where a method learns costs all the same (an index), or the units do, unless the model
// to start from learned what control costs. A rising shape begins with control.
bool has_free_control(const data::Trial& trial, const learn::OutcomeFacts& cost, bool anchored,
                      const learn::OutcomeFacts* start) {
  if (cost.arm_shape != learn::ArmShape::plain && trial.arms.control != 0) return false;
  if (trial.cost_facts.is_known()) return trial.cost_facts.per_arm[trial.arms.control] == 0.0;
  return anchored && (start == nullptr || start->control_is_free) && costs_nothing_in_control(trial);
}

learn::Facts facts_of(const data::Trial& trial, const data::Study& study, const Method& method,
                      OutcomeKind revenue_kind, OutcomeKind cost_kind, const learn::OutcomeFacts* start_cost) {
  const bool anchored = !study.method.as_published;
  const std::size_t num_arms = trial.arms.size();
  learn::Facts facts;
  facts.revenue = {.num_arms = num_arms, .kind = revenue_kind, .control = trial.arms.control};
  facts.revenue.arm_shape = shape_of(study.method, "revenue", method.monotone);
  facts.cost = {.num_arms = num_arms, .kind = cost_kind, .control = trial.arms.control};
  facts.cost.arm_shape = shape_of(
      study.method, "cost", method.monotone || (anchored && study.cost.rises_with_arm && trial.arms.control == 0));
  facts.cost.control_is_free =
      (anchored && study.cost.control_is_free) || has_free_control(trial, facts.cost, anchored, start_cost);
  facts.cost.non_negative = anchored && study.cost.non_negative && cost_kind == OutcomeKind::real;
  return facts;
}

// What the trial knows about costs. An index has no revenue to take a rate of, and its efficiencies want costs, so a
// method of efficiencies learns them, but for plain prices.
data::CostFacts cost_facts_of(const data::Trial& trial, const Method& method, const model::Model* start) {
  data::CostFacts facts = trial.cost_facts;
  if (method.learns_efficiencies() && facts.kind != data::CostKind::price) facts = {};
  if (start != nullptr && start->cost_facts != facts) {
    throw core::field_error("start_from", "the starting model knows other costs",
                            std::string(data::to_text(start->cost_facts.kind)), std::string(data::to_text(facts.kind)),
                            "prices and rates must be the same");
  }
  return facts;
}

// Costs are scaled so that the average efficiency of the strongest arm is a quarter of what the losses can express.
// Where a step to the next arm costs nothing more, it has no efficiency, and the losses no least value.
double efficiency_scale(const data::Trial& trial, const Method& method, const Preparation& prepared) {
  std::vector<double> revenue(trial.arms.size()), cost(trial.arms.size()), count(trial.arms.size());
  for (const std::uint32_t unit : prepared.train_rows) {
    revenue[trial.arm[unit]] += static_cast<double>(prepared.revenue[unit]);
    cost[trial.arm[unit]] += static_cast<double>(prepared.cost[unit]);
    count[trial.arm[unit]] += 1.0;
  }
  for (std::size_t arm = 0; arm < count.size(); ++arm) {
    revenue[arm] /= count[arm];
    cost[arm] /= count[arm];
  }
  double largest = 0.0;
  for (std::size_t arm = 1; arm < count.size(); ++arm) {
    if (!(cost[arm] > cost[arm - 1])) {
      throw core::data_error(
          "",
          fmt::format("{} learns revenue per cost, which needs a mean cost that rises from arm to arm", method.name),
          fmt::format("arm '{}' costs no more than '{}'", trial.arms.labels[arm], trial.arms.labels[arm - 1]), "",
          "tsm and the dfcl methods take any costs", "method.name");
    }
    largest = std::max(largest, (revenue[arm] - revenue[0]) / (cost[arm] - cost[0]));
  }
  return largest > 0.0 ? 4.0 * largest : 1.0;
}

void check_method(const data::Trial& trial, const data::Study& study, const Method& method) {
  const std::size_t num_arms = trial.arms.size();
  if (method.two_arms_only && num_arms != 2) {
    throw core::field_error("method.name", fmt::format("{} is for trials of two arms", method.name),
                            fmt::format("{} arms", num_arms));
  }
  const bool shaped = !study.method.monotone.empty() || !study.method.concave.empty();
  if ((method.ordered_arms_only || shaped) && num_arms > 2 && !trial.arms.ordered) {
    const bool is_method = method.ordered_arms_only;
    throw core::field_error(is_method                       ? "method.name"
                            : study.method.monotone.empty() ? "method.concave"
                                                            : "method.monotone",
                            is_method ? fmt::format("{} needs ordered arms", method.name) : "needs ordered arms", "",
                            core::field_name("arms.order") + " from the weakest to the strongest");
  }
  if (study.cost.rises_with_arm && ((num_arms > 2 && !trial.arms.ordered) || trial.arms.control != 0)) {
    throw core::field_error("cost.rises_with_arm", "needs ordered arms that begin with control", "",
                            core::field_name("arms.order") + " from the weakest to the strongest");
  }
  if (!method.uses("concave") && !study.method.concave.empty())
    throw core::field_error("method.concave", fmt::format("{} knows rising outcomes, not falling steps", method.name),
                            "", core::field_name("method.monotone"));
  for (const auto& [key, list] :
       {std::pair{"method.monotone", &study.method.monotone}, std::pair{"method.concave", &study.method.concave}}) {
    if (method.learns_efficiencies() && names(*list, "revenue"))
      throw core::field_error(key, fmt::format("{} predicts no revenue to shape", method.name), "", "cost");
  }
}

}  // namespace

learn::TrainingSet Preparation::training_set(const data::Trial& trial) const {
  return {.features = &trial.features,
          .arms = &trial.arms,
          .arm = trial.arm,
          .revenue = trial.revenue,
          .cost = cost_facts.kind == data::CostKind::price_if ? std::span<const float>(cost) : trial.cost,
          .scaled_revenue = revenue,
          .scaled_cost = cost,
          .weight = weight,
          .sample = sample,
          .has_propensities = !trial.propensity.empty(),
          .cluster =
              trial.has_clusters() ? std::span<const std::uint32_t>(trial.cluster) : std::span<const std::uint32_t>(),
          .is_training = is_training,
          .rows = train_rows,
          .validation_rows = validation_rows,
          .facts = facts,
          .scales = scales,
          .cost_rule = learn::scaled_rule(cost_facts, scales),
          .learns_cost = !cost_facts.is_known() || cost_facts.kind == data::CostKind::price_if};
}

Preparation prepare(const data::Trial& trial, const data::Study& study, const Method& method, core::RunContext& context,
                    const model::Model* start) {
  check_method(trial, study, method);
  if (start != nullptr) require_same_schema(trial, *start);
  Preparation prepared;
  prepared.train_rows = core::Column<std::uint32_t>(context.scratch());
  prepared.validation_rows = core::Column<std::uint32_t>(context.scratch());
  prepared.is_training = core::Column<std::uint8_t>(context.scratch());
  prepared.weight = core::Column<float>(context.scratch());
  prepared.sample = core::Column<float>(context.scratch());
  choose_rows(trial, prepared);
  if (prepared.train_rows.empty()) {
    throw core::Error({.kind = core::ErrorKind::data, .what = "no training units", .where = "[split]"});
  }
  weigh(trial, prepared);
  const Range revenue = range_of(trial.revenue, prepared.train_rows);
  const Range cost = range_of(trial.cost, prepared.train_rows);
  const std::optional<learn::Origin> origin =
      start == nullptr ? std::nullopt : start->predictors.front().predictor->origin();
  const learn::OutcomeFacts* known = origin && !start->is_index() ? &origin->facts.revenue : nullptr;
  const OutcomeKind revenue_kind = kind_of(revenue, declared_kind(study.network.revenue_kind, known, "revenue"),
                                           "revenue", study.method.as_published);
  known = origin ? &origin->facts.cost : nullptr;
  const OutcomeKind cost_kind =
      kind_of(cost, declared_kind(study.network.cost_kind, known, "cost"), "cost", study.method.as_published);
  prepared.cost_facts = cost_facts_of(trial, method, start);
  const bool is_outcome = prepared.cost_facts.kind == data::CostKind::price_if;
  prepared.facts = facts_of(trial, study, method, revenue_kind, is_outcome ? OutcomeKind::binary : cost_kind, known);
  prepared.scales =
      origin ? origin->scales
             : learn::Scales{scale_of(revenue, revenue_kind, true), scale_of(cost, prepared.facts.cost.kind, false)};
  prepared.revenue = scaled(trial.revenue, prepared.scales.revenue, context);
  prepared.cost = scaled(trial.cost, prepared.scales.cost, context);
  if (is_outcome) {
    for (std::size_t unit = 0; unit < trial.num_units(); ++unit)
      prepared.cost[unit] =
          trial.cost_facts.is_paid(trial.arm[unit], static_cast<double>(trial.cost[unit])) ? 1.0f : 0.0f;
  }
  prepared.budgets = data::resolve_budgets(study, trial);
  prepared.scaled_budgets = prepared.budgets;
  for (data::Budget& budget : prepared.scaled_budgets) budget.per_unit /= prepared.scales.cost.scale;
  if (method.learns_efficiencies())
    prepared.efficiency_cost_scale = origin ? origin->efficiency_cost_scale : efficiency_scale(trial, method, prepared);
  return prepared;
}

std::unique_ptr<learn::Learner> make_learner(learn::MakeLearner make, const Preparation& prepared,
                                             const data::Trial& trial, const data::Study& study,
                                             const Settings& settings, core::RunContext& context,
                                             const model::Model* start) {
  const learn::TrainingSet set = prepared.training_set(trial);
  return make({.study = study,
               .set = set,
               .steps = settings.steps,
               .seed = settings.seed,
               .revenue_form = settings.method.revenue_form,
               .efficiency_cost_scale = prepared.efficiency_cost_scale,
               .start = start == nullptr ? nullptr : start->predictors.front().predictor.get(),
               .start_columns = start == nullptr ? nullptr : &start->features},
              context);
}

std::unique_ptr<learn::Learner> make_one_bag_learner(learn::MakeLearner make, const Preparation& prepared,
                                                     const data::Trial& trial, const data::Study& study,
                                                     const Settings& settings, core::RunContext& context) {
  data::Study one = study;
  one.boost.bags = 1;
  return make_learner(make, prepared, trial, one, settings, context);
}

void require_trainable(const data::Trial& trial, const data::Study& study, const Method& method, bool with_trial,
                       core::RunContext& context) {
  const auto num_training =
      static_cast<std::size_t>(std::count(trial.split.begin(), trial.split.end(), data::Split::train));
  std::optional<Preparation> prepared;
  if (with_trial) prepared = prepare(trial, study, method, context);
  const Settings settings = settings_of(study, method, num_training, context.seed);
  if (method.check_settings != nullptr) method.check_settings(study, num_training, trial.arms.size());
  if (!prepared) return;
  for (const learn::MakeLearner make : {method.base, method.learner}) {
    if (make != nullptr) (void)make_learner(make, *prepared, trial, study, settings, context);
  }
}

}  // namespace dfcl::train
