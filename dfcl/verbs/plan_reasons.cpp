// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/plan_reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "dfcl/core/error_makers.h"
#include "dfcl/io/trial/unit_reader.h"
#include "dfcl/model/explain.h"
#include "dfcl/model/predict.h"

namespace dfcl::verbs {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// A unit under every arm, as the objective counts it: value per arm, and cost.
struct UnitValues {
  std::vector<double> value, cost, score;
  const std::uint8_t* open = nullptr;  // null: all arms
  bool is_open(std::size_t arm) const { return open == nullptr || open[arm] != 0; }
};

// The best of the other arms; the arm itself where there is none.
std::size_t second_best(const UnitValues& unit, std::size_t arm) {
  std::size_t best = arm;
  for (std::size_t other = 0; other < unit.score.size(); ++other) {
    if (other == arm || !unit.is_open(other)) continue;
    if (best == arm || unit.score[other] > unit.score[best]) best = other;
  }
  return best;
}

// The multiplier at which a unit would get another arm: up to it a treated unit keeps its arm against every cheaper
// one; below it a unit in control gets a dearer one. NaN where there is no such arm.
double switch_multiplier(const UnitValues& unit, std::size_t arm, bool treated) {
  double found = kNone;
  for (std::size_t other = 0; other < unit.value.size(); ++other) {
    const double cost = unit.cost[arm] - unit.cost[other];
    if (other == arm || !unit.is_open(other) || (treated ? !(cost > 0.0) : !(cost < 0.0))) continue;
    const double ratio = (unit.value[arm] - unit.value[other]) / cost;
    if (!treated && !(ratio > 0.0)) continue;
    if (std::isnan(found) || (treated ? ratio < found : ratio > found)) found = ratio;
  }
  return found;
}

// The columns as they grow.
struct Columns {
  std::vector<float> uplift, extra_cost, over_second, typical, others;
  std::vector<double> distance;
  data::TextColumn second;
  std::vector<data::TextColumn> reason = std::vector<data::TextColumn>(model::kReasons);
  std::vector<std::vector<float>> adds = std::vector<std::vector<float>>(model::kReasons);

  void move_to(data::ExtraColumns& extra) {
    using data::ColumnType;
    const auto add = [&](std::string name, ColumnType type, data::ColumnValues values) {
      extra.columns.push_back({std::move(name), type});
      extra.values.push_back(std::move(values));
    };
    add("uplift", ColumnType::float32, std::move(uplift));
    add("extra_cost", ColumnType::float32, std::move(extra_cost));
    add("second_arm", ColumnType::text, std::move(second));
    add("over_second", ColumnType::float32, std::move(over_second));
    add("cut_distance", ColumnType::float64, std::move(distance));
    for (std::size_t i = 0; i < model::kReasons; ++i) {
      add(fmt::format("reason_{}", i + 1), ColumnType::text, std::move(reason[i]));
      add(fmt::format("reason_{}_adds", i + 1), ColumnType::float32, std::move(adds[i]));
    }
    add("other_features_add", ColumnType::float32, std::move(others));
    add("typical", ColumnType::float32, std::move(typical));
  }
};

}  // namespace

CutDistances::CutDistances(const allocate::Curve& curve, double spend) : planned_(spend) {
  for (const allocate::CurvePoint& point : curve.points) {
    if (!multiplier_.empty() && !(point.multiplier < multiplier_.back())) {
      spend_.back() = point.spend;  // the same price buys up to here
      continue;
    }
    multiplier_.push_back(point.multiplier);
    spend_.push_back(point.spend);
  }
}

double CutDistances::at(double multiplier) const {
  if (std::isnan(multiplier) || multiplier_.empty()) return kNone;
  const auto place = std::lower_bound(multiplier_.begin(), multiplier_.end(), multiplier, std::greater<>());
  const auto after = static_cast<std::size_t>(place - multiplier_.begin());
  if (after == 0) return planned_ - spend_.front();
  if (after == multiplier_.size()) return planned_ - spend_.back();
  const double width = multiplier_[after - 1] - multiplier_[after];
  const double share = (multiplier_[after - 1] - multiplier) / width;
  return planned_ - (spend_[after - 1] + share * (spend_[after] - spend_[after - 1]));
}

struct PlanReasons::Impl {
  const model::Model& model;
  const allocate::Rules& rules;
  core::RunContext& context;
  double price;  // of cost, in value per cost
  model::Explainer explainer;
  CutDistances distances;
  io::UnitReader reader;
  io::UnitBatch batch = {};
  std::size_t used = 0;  // units of the batch

  UnitValues values_of(const allocate::PlannedUnits& planned, std::size_t row) const {
    UnitValues unit;
    const bool profit = rules.objective == allocate::Objective::profit;
    for (std::size_t arm = 0; arm < model.arms.size(); ++arm) {
      const double revenue = static_cast<double>(planned.units.revenue(row, arm));
      const double cost = static_cast<double>(planned.units.cost(row, arm));
      unit.value.push_back(profit ? rules.margin * revenue - cost : revenue);
      unit.cost.push_back(cost);
      unit.score.push_back(unit.value.back() - price * cost);
    }
    unit.open = planned.units.eligible_row(row);
    return unit;
  }

  // The features of the next units.
  core::Matrix<float> next_features(std::size_t num_units) {
    core::Matrix<float> features(num_units, model.features.size());
    for (std::size_t filled = 0; filled < num_units;) {
      if (used == batch.num_units()) {
        used = 0;
        if (!reader.next(batch)) throw core::data_error("the units", "fewer than were planned for");
        continue;
      }
      const std::size_t count = std::min(num_units - filled, batch.num_units() - used);
      for (std::size_t i = 0; i < count; ++i)
        std::ranges::copy(std::as_const(batch.features).row(used + i), features.row(filled + i).begin());
      filled += count;
      used += count;
    }
    return features;
  }
};

namespace {

model::ScorePrices score_prices(const allocate::Rules& rules, double price) {
  const bool profit = rules.objective == allocate::Objective::profit;
  return {profit ? rules.margin : 1.0, profit ? price + 1.0 : price, {}};
}

// A least return is a price below which no increment is taken.
double price_of(const allocate::Rules& rules, double multiplier) {
  const bool profit = rules.objective == allocate::Objective::profit;
  const double floor = profit ? rules.margin * rules.min_roi - 1.0 : rules.min_roi;
  return std::max({multiplier, floor, 0.0});
}

}  // namespace

PlanReasons::PlanReasons(const model::Model& model, const std::string& units, const allocate::Rules& rules,
                         const allocate::Solution& solution, const allocate::Curve& curve, core::RunContext& context) {
  const double price = price_of(rules, solution.multiplier);
  impl_ = std::unique_ptr<Impl>(
      new Impl{model, rules, context, price, model::Explainer(model, score_prices(rules, price), {}, context),
               CutDistances(curve, solution.spend), io::UnitReader(units, model::unit_schema(model), context)});
}

PlanReasons::~PlanReasons() = default;

void PlanReasons::add(const allocate::PlannedUnits& planned, data::Plan& piece) {
  const core::Matrix<float> features = impl_->next_features(planned.size());
  const std::size_t control = impl_->rules.control;
  Columns columns;
  std::vector<std::size_t> explained;  // rows that got an arm because it is best for them
  std::vector<std::uint8_t> arms, seconds;
  for (std::size_t row = 0; row < planned.size(); ++row) {
    const UnitValues unit = impl_->values_of(planned, row);
    const std::size_t arm = planned.arm[row];
    const std::size_t second = second_best(unit, arm);
    const bool by_plan = piece.role.empty() || piece.role[row] == data::Role::plan;
    const bool is_treated = arm != control;
    columns.uplift.push_back(planned.units.revenue(row, arm) - planned.units.revenue(row, control));
    columns.extra_cost.push_back(planned.units.cost(row, arm) - planned.units.cost(row, control));
    columns.second.push_back(second == arm ? "" : piece.arms[second]);
    columns.over_second.push_back(second == arm ? std::nanf("")
                                                : static_cast<float>(unit.score[arm] - unit.score[second]));
    columns.distance.push_back(by_plan ? impl_->distances.at(switch_multiplier(unit, arm, is_treated)) : kNone);
    if (!by_plan || !is_treated || second == arm) continue;
    explained.push_back(row);
    arms.push_back(static_cast<std::uint8_t>(arm));
    seconds.push_back(static_cast<std::uint8_t>(second));
  }
  core::Matrix<float> chosen(explained.size(), features.cols());
  for (std::size_t i = 0; i < explained.size(); ++i)
    std::ranges::copy(features.row(explained[i]), chosen.row(i).begin());
  std::vector<model::Explanation> found(explained.size());
  impl_->explainer.explain(std::as_const(chosen).view(), arms, seconds, found, impl_->context);
  std::size_t next = 0;
  for (std::size_t row = 0; row < planned.size(); ++row) {
    const model::Explanation* one = next < explained.size() && explained[next] == row ? &found[next++] : nullptr;
    for (std::size_t i = 0; i < model::kReasons; ++i) {
      const bool is_there = one != nullptr && one->feature[i] != model::kNoFeature;
      columns.reason[i].push_back(is_there ? impl_->model.features[one->feature[i]].name : "");
      columns.adds[i].push_back(is_there ? static_cast<float>(one->adds[i]) : std::nanf(""));
    }
    columns.others.push_back(one != nullptr ? static_cast<float>(one->others) : std::nanf(""));
    columns.typical.push_back(one != nullptr ? static_cast<float>(one->typical) : std::nanf(""));
  }
  columns.move_to(piece.extra);
}

}  // namespace dfcl::verbs
