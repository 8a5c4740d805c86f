// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/stream.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "dfcl/allocate/solve.h"
#include "dfcl/allocate/validate.h"
#include "dfcl/core/error.h"
#include "dfcl/core/suggest.h"

namespace dfcl::allocate {
namespace {

// The batches of a source as units x arms.
class StreamedUnits final : public UnitPieces {
 public:
  StreamedUnits(data::BatchSource& source, const std::vector<std::string>& arms, core::RunContext& context)
      : source_(source), context_(context), num_arms_(arms.size()) {
    for (const std::string& arm : arms) {
      revenue_columns_.push_back(*find("revenue_" + arm, true));
      cost_columns_.push_back(*find("cost_" + arm, true));
      eligible_columns_.push_back(find("eligible_" + arm, false));
      any_eligibility_ |= eligible_columns_.back().has_value();
    }
  }

  std::size_t num_arms() const override { return num_arms_; }
  void for_each(const std::function<void(const Units&)>& body) override {
    for_each_batch([&](const data::Batch&, const Units& units) { body(units); });
  }
  void for_each_batch(const std::function<void(const data::Batch&, const Units&)>& body) {
    source_.rewind();
    data::Batch batch;
    std::size_t first_unit = 0;
    while (source_.next(batch)) {
      context_.check_cancelled();
      const Units units = convert(batch, first_unit);
      if (first_unit + units.size() > 0x7fffffffu) {
        throw core::Error({.kind = core::ErrorKind::data, .what = "too many units", .expected = "fewer than 2^31"});
      }
      body(batch, units);
      first_unit += units.size();
      context_.progress(task, first_unit, 0);
    }
    context_.finished(task);
  }

  std::string task = "summarising";

 private:
  std::optional<std::size_t> find(const std::string& name, bool required) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < source_.columns().size(); ++i) {
      if (source_.columns()[i].name == name) return i;
      names.push_back(source_.columns()[i].name);
    }
    if (!required) return std::nullopt;
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = fmt::format("there is no column '{}'", name),
                       .expected = "revenue_<arm> and cost_<arm> for every arm",
                       .hint = core::suggest(name, names)});
  }

  template <class T>
  void copy_column(const data::Batch& batch, std::size_t column, std::size_t arm, core::Matrix<T>& matrix) const {
    std::visit(
        [&](const auto& values) {
          using Values = std::decay_t<decltype(values)>;
          if constexpr (std::is_same_v<Values, data::TextColumn>) {
            throw core::Error({.kind = core::ErrorKind::data,
                               .what = fmt::format("column '{}' is text", source_.columns()[column].name),
                               .expected = "numbers"});
          } else {
            for (std::size_t row = 0; row < batch.num_rows; ++row) {
              if constexpr (std::is_same_v<T, std::uint8_t>) {
                matrix(row, arm) = values[row] != 0 ? 1 : 0;
              } else {
                matrix(row, arm) = static_cast<float>(values[row]);
              }
            }
          }
        },
        batch.columns[column]);
  }

  Units convert(const data::Batch& batch, std::size_t first_unit) {
    if (batch.num_rows > revenue_.rows() || revenue_.cols() == 0) {
      revenue_ = core::Matrix<float>(batch.num_rows, num_arms_);
      cost_ = core::Matrix<float>(batch.num_rows, num_arms_);
      if (any_eligibility_) eligible_ = core::Matrix<std::uint8_t>(batch.num_rows, num_arms_);
    }
    for (std::size_t arm = 0; arm < num_arms_; ++arm) {
      copy_column(batch, revenue_columns_[arm], arm, revenue_);
      copy_column(batch, cost_columns_[arm], arm, cost_);
      if (!any_eligibility_) continue;
      if (eligible_columns_[arm]) {
        copy_column(batch, *eligible_columns_[arm], arm, eligible_);
      } else {
        for (std::size_t row = 0; row < batch.num_rows; ++row) eligible_(row, arm) = 1;
      }
    }
    Units units{revenue_.view().slice(0, batch.num_rows), cost_.view().slice(0, batch.num_rows), {}, first_unit};
    if (any_eligibility_) units.eligible = eligible_.view().slice(0, batch.num_rows);
    return units;
  }

  data::BatchSource& source_;
  core::RunContext& context_;
  std::size_t num_arms_;
  std::vector<std::size_t> revenue_columns_, cost_columns_;   // per arm
  std::vector<std::optional<std::size_t>> eligible_columns_;  // per arm
  bool any_eligibility_ = false;
  core::Matrix<float> revenue_, cost_;
  core::Matrix<std::uint8_t> eligible_;
};

// The last pass: hands out the arms and counts them.
void deliver(StreamedUnits& units_source, const Rules& rules, const PathPlan& plan, const PlanSink& sink,
             core::RunContext& context, Solution& solution) {
  solution.units_per_arm.assign(units_source.num_arms(), 0);
  std::vector<std::uint8_t> arms;
  std::vector<float> revenue, cost;
  units_source.task = "planning";
  units_source.for_each_batch([&](const data::Batch& batch, const Units& units) {
    arms.resize(units.size());
    revenue.resize(units.size());
    cost.resize(units.size());
    assign(units, rules, plan, arms.data(), context);
    for (std::size_t row = 0; row < units.size(); ++row) {
      revenue[row] = units.revenue(row, arms[row]);
      cost[row] = units.cost(row, arms[row]);
      ++solution.units_per_arm[arms[row]];
    }
    sink({batch, units.first_unit, arms, revenue, cost, solution.multiplier});
  });
}

}  // namespace

Solution allocate_stream(data::BatchSource& source, const std::vector<std::string>& arms, const Rules& rules,
                         double budget_total, const PlanSink& sink, core::RunContext& context) {
  validate(rules, arms.size());
  validate_budget(budget_total);
  StreamedUnits units(source, arms, context);
  const CutSearch search = search_cut(units, rules, budget_total, context);
  if (search.solution.outcome == WindowOutcome::too_late) {
    return cannot_be_met(search.control, budget_total, search.least_spend);
  }
  Solution solution;
  solution.budget = budget_total;
  solution.least_spend = search.least_spend;
  describe_control(search.control, solution);
  describe(rules, search.window, search.solution, solution);
  explain_unspent(units, rules, context, solution);
  deliver(units, rules, search.plan(), sink, context, solution);
  return solution;
}

Solution apply_multiplier_stream(data::BatchSource& source, const std::vector<std::string>& arms, const Rules& rules,
                                 double multiplier, const PlanSink& sink, core::RunContext& context) {
  validate(rules, arms.size());
  StreamedUnits units(source, arms, context);
  const PathPlan plan = plan_at_multiplier(rules, multiplier);
  Solution solution = describe_plan_at_multiplier(units, rules, plan, multiplier, context);
  deliver(units, rules, plan, sink, context, solution);
  return solution;
}

}  // namespace dfcl::allocate
