// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/check_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "dfcl/core/bytes.h"
#include "dfcl/data/row_weight.h"

namespace dfcl::check {
namespace {

constexpr std::uint64_t kTaskLetters = 0x3174636863666364u;  // "dcfchct1"
constexpr std::uint64_t kSumsLetters = 0x3173636863666364u;  // "dcfchcs1"
constexpr std::uint64_t kMostUnits = std::uint64_t{1} << 40;

}  // namespace

std::string CheckTask::to_bytes() const {
  core::ByteWriter bytes;
  bytes.write(kTaskLetters);
  bytes.write_count(num_arms);
  bytes.write_count(num_guardrails);
  bytes.write(weighted);
  expansion.save(bytes);
  for (const double number : pivot) bytes.write(number);
  return std::move(bytes).seal();
}

CheckTask CheckTask::from_bytes(std::string_view text) {
  core::ByteReader bytes(text, "what a check adds up");
  bytes.unseal();
  bytes.require(bytes.read<std::uint64_t>() == kTaskLetters, "these bytes are no check");
  const auto num_arms = bytes.read<std::uint64_t>();
  const auto num_guardrails = bytes.read<std::uint64_t>();
  bytes.require(num_arms >= 2 && num_arms <= 256 && num_guardrails <= 10'000, "arms or guardrails that cannot be");
  const bool weighted = bytes.read<std::uint8_t>() != 0;
  CheckTask task{num_arms, num_guardrails, weighted, Expansion::load(bytes), {}};
  for (double& number : task.pivot) {
    number = bytes.read<double>();
    bytes.require(std::isfinite(number), "a pivot that is not finite");
  }
  bytes.end();
  return task;
}

CheckSums::CheckSums(const CheckTask& task)
    : task_(&task), arms_(task.num_arms), table_(task.num_arms, task.expansion.plans().size()) {
  const std::size_t columns = task.expansion.num_columns();
  for (Arm& arm : arms_) {
    arm.guardrails.resize(task.num_guardrails);
    arm.sum.resize(columns);
    arm.square.resize(columns);
    arm.sum_squared.resize(task.weighted ? columns : 0);
    arm.square_squared.resize(task.weighted ? columns : 0);
  }
}

// In one order, whatever is done with them.
template <class AnyArm, class Each>
void CheckSums::for_each_total(AnyArm& arm, Each&& each) {
  each(arm.weight);
  each(arm.weight_squared);
  for (auto& outcome : arm.outcome) {
    each(outcome.wy);
    each(outcome.wwz);
    each(outcome.wwzz);
  }
  const auto each_of = [&](auto& totals) {
    for (auto& total : totals) each(total);
  };
  each_of(arm.guardrails);
  each_of(arm.sum);
  each_of(arm.square);
  each_of(arm.sum_squared);
  each_of(arm.square_squared);
}

void CheckSums::add(const data::Trial& part) {
  std::vector<float> columns(task_->expansion.num_columns());
  for (std::size_t row = 0; row < part.num_units(); ++row) {
    facts_.add(part, row);
    table_.add(part.arm[row], part.features.values.row(row));
    Arm& arm = arms_[part.arm[row]];
    const double weight = data::row_weight(part, row);
    arm.with_revenue += part.revenue[row] != 0.0f ? 1 : 0;
    arm.weight.add(weight);
    arm.weight_squared.add(weight * weight);
    const double outcomes[kOutcomes] = {static_cast<double>(part.revenue[row]), estimated_cost(part, row)};
    for (std::size_t k = 0; k < kOutcomes; ++k) {
      arm.outcome[k].wy.add(weight * outcomes[k]);
      const double apart = outcomes[k] - task_->pivot[k];
      arm.outcome[k].wwz.add(weight * weight * apart);
      arm.outcome[k].wwzz.add(weight * weight * apart * apart);
    }
    for (std::size_t g = 0; g < arm.guardrails.size(); ++g)
      arm.guardrails[g].add(weight * static_cast<double>(part.guardrails[g].value[row]));
    std::fill(columns.begin(), columns.end(), 0.0f);
    task_->expansion.add(part.features.values.row(row), 1.0f, columns);
    const double counted = task_->weighted ? weight : 1.0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const double value = columns[k];
      if (value == 0.0) continue;
      arm.sum[k].add(counted * value);
      arm.square[k].add(counted * value * value);
      if (!task_->weighted) continue;
      arm.sum_squared[k].add(counted * counted * value);
      arm.square_squared[k].add(counted * counted * value * value);
    }
  }
}

void CheckSums::merge(const CheckSums& other) {
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    std::vector<const core::ExactTotal*> others;
    for_each_total(other.arms_[a], [&](const core::ExactTotal& total) { others.push_back(&total); });
    std::size_t next = 0;
    for_each_total(arms_[a], [&](core::ExactTotal& total) { total.add(*others[next++]); });
    arms_[a].with_revenue += other.arms_[a].with_revenue;
  }
  table_.merge(other.table_);
  facts_.merge(other.facts_);
}

std::string CheckSums::to_bytes() const {
  core::ByteWriter bytes;
  bytes.write(kSumsLetters);
  bytes.write(core::hash_text(task_->to_bytes()));
  for (const Arm& arm : arms_) {
    bytes.write(arm.with_revenue);
    for_each_total(arm, [&](const core::ExactTotal& total) { total.save(bytes); });
  }
  for (const ColumnInArm& cell : table_.cells) {
    bytes.write_count(cell.observed);
    bytes.write(cell.low);
    bytes.write(cell.high);
  }
  for (const std::size_t units : table_.units_per_arm) bytes.write_count(units);
  bytes.write_count(facts_.negative_costs);
  bytes.write_count(facts_.control_costs);
  bytes.write(facts_.any_cost);
  bytes.write(facts_.smallest_propensity);
  return std::move(bytes).seal();
}

void CheckSums::merge_bytes(std::string_view text) {
  core::ByteReader bytes(text, "sums of a check");
  bytes.unseal();
  bytes.require(bytes.read<std::uint64_t>() == kSumsLetters, "these bytes are no sums of a check");
  bytes.require(bytes.read<std::uint64_t>() == core::hash_text(task_->to_bytes()), "sums of another check");
  const auto read_count = [&] {
    const auto count = bytes.read<std::uint64_t>();
    bytes.require(count < kMostUnits, "more units than there can be");
    return static_cast<std::size_t>(count);
  };
  CheckSums other(*task_);
  for (Arm& arm : other.arms_) {
    arm.with_revenue = read_count();
    for_each_total(arm, [&](core::ExactTotal& total) { total = core::ExactTotal::load(bytes); });
  }
  for (ColumnInArm& cell : other.table_.cells) {
    cell.observed = read_count();
    cell.low = bytes.read<float>();
    cell.high = bytes.read<float>();
    bytes.require(!std::isnan(cell.low) && !std::isnan(cell.high), "a range that cannot be");
  }
  for (std::size_t& units : other.table_.units_per_arm) units = read_count();
  for (std::size_t a = 0; a < other.arms_.size(); ++a) {
    const std::size_t units = other.table_.units_per_arm[a];
    bool fits = other.arms_[a].with_revenue <= units;
    for (std::size_t feature = 0; feature < other.table_.num_features; ++feature) {
      const ColumnInArm& cell = other.table_.cell(a, feature);
      fits = fits && cell.observed <= units && (cell.observed == 0 || cell.low <= cell.high);
    }
    bytes.require(fits, "more of an arm's units than it has, or a range that cannot be");
  }
  other.facts_.negative_costs = read_count();
  other.facts_.control_costs = read_count();
  other.facts_.any_cost = bytes.read<std::uint8_t>() != 0;
  other.facts_.smallest_propensity = bytes.read<float>();
  bytes.require(other.facts_.smallest_propensity > 0.0f && other.facts_.smallest_propensity <= 1.0f,
                "a propensity that cannot be");
  bytes.end();
  merge(other);
}

std::size_t CheckSums::num_units() const {
  return std::accumulate(table_.units_per_arm.begin(), table_.units_per_arm.end(), std::size_t{0});
}

std::vector<ArmSummary> CheckSums::arms(const data::Trial& trial) const {
  std::vector<ArmTotals> totals(arms_.size());
  std::vector<ArmSpread> spreads(arms_.size());
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    const Arm& arm = arms_[a];
    totals[a].units = spreads[a].groups = table_.units_per_arm[a];
    totals[a].with_revenue = arm.with_revenue;
    totals[a].weight = arm.weight.value();
    for (std::size_t k = 0; k < kOutcomes; ++k) {
      totals[a].outcome[k] = arm.outcome[k].wy.value();
      // Sum of u^2 with u = w / W (z - its mean): no unit is in two arms, so products are control's own.
      const double mean = totals[a].outcome[k] / totals[a].weight - task_->pivot[k];
      const double squares = arm.outcome[k].wwzz.value() - 2.0 * mean * arm.outcome[k].wwz.value() +
                             mean * mean * arm.weight_squared.value();
      spreads[a].square[k] = std::max(0.0, squares) / (totals[a].weight * totals[a].weight);
      if (a == trial.arms.control) spreads[a].product[k] = spreads[a].square[k];
    }
  }
  return arm_summaries(trial, std::move(totals), std::move(spreads));
}

std::vector<GuardrailSummary> CheckSums::guardrails(const data::Trial& trial) const {
  std::vector<GuardrailSummary> summaries;
  for (std::size_t g = 0; g < task_->num_guardrails; ++g) {
    GuardrailSummary& summary = summaries.emplace_back();
    summary.name = trial.guardrails[g].name;
    for (const Arm& arm : arms_) summary.mean.push_back(arm.guardrails[g].value() / arm.weight.value());
  }
  return summaries;
}

ColumnMoments CheckSums::moments() const {
  const std::size_t columns = task_->expansion.num_columns();
  ColumnMoments moments = empty_moments(arms_.size(), columns, task_->weighted);
  const auto copy = [&](const std::vector<core::ExactTotal>& from, std::vector<double>& to, std::size_t a) {
    for (std::size_t k = 0; k < from.size(); ++k) to[a * columns + k] = from[k].value();
  };
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    moments.draws[a] = static_cast<double>(table_.units_per_arm[a]);
    moments.weight[a] = task_->weighted ? arms_[a].weight.value() : moments.draws[a];
    moments.weight_squared[a] = task_->weighted ? arms_[a].weight_squared.value() : moments.draws[a];
    copy(arms_[a].sum, moments.sum, a);
    copy(arms_[a].square, moments.square, a);
    copy(arms_[a].sum_squared, moments.sum_squared, a);
    copy(arms_[a].square_squared, moments.square_squared, a);
  }
  return moments;
}

}  // namespace dfcl::check
