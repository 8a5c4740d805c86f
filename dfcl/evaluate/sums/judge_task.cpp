// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/sums/judge_task.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dfcl/core/bytes.h"
#include "dfcl/core/hash.h"
#include "dfcl/data/arms.h"
#include "dfcl/evaluate/effects/baselines.h"

namespace dfcl::evaluate {
namespace {

constexpr std::uint64_t kTaskLetters = 0x316b736166636664u;  // "dfcfask1"

bool all_finite(const auto& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](auto number) { return std::isfinite(number); });
}

void save_planned(const Planned& planned, core::ByteWriter& bytes) {
  bytes.write_count(planned.prediction);
  bytes.write_all(planned.mean_revenue);
  bytes.write_all(planned.mean_cost);
  bytes.write_count(planned.rules.control);
  bytes.write(static_cast<std::uint8_t>(planned.rules.objective));
  bytes.write(planned.rules.margin);
  bytes.write(planned.rules.min_roi);
  bytes.write_all(planned.rules.price);
}

Planned load_planned(core::ByteReader& bytes, std::size_t num_arms) {
  Planned planned;
  planned.prediction = bytes.read<std::uint64_t>();
  planned.mean_revenue = bytes.read_all<float>();
  planned.mean_cost = bytes.read_all<float>();
  planned.rules.control = bytes.read<std::uint64_t>();
  const auto objective = bytes.read<std::uint8_t>();
  planned.rules.margin = bytes.read<double>();
  planned.rules.min_roi = bytes.read<double>();
  planned.rules.price = bytes.read_all<double>();
  const auto fits = [&](std::size_t count) { return count == 0 || count == num_arms; };
  bytes.require(fits(planned.mean_revenue.size()) && planned.mean_revenue.size() == planned.mean_cost.size() &&
                    fits(planned.rules.price.size()) && planned.rules.control < num_arms && objective <= 1,
                "plans that cannot be");
  bytes.require(all_finite(planned.mean_revenue) && all_finite(planned.mean_cost) && all_finite(planned.rules.price) &&
                    planned.rules.margin > 0.0 && std::isfinite(planned.rules.margin) && planned.rules.min_roi >= 0.0 &&
                    std::isfinite(planned.rules.min_roi),
                "plans with a number that cannot be");
  planned.rules.objective = static_cast<allocate::Objective>(objective);
  return planned;
}

void save_sums(const SumTask& task, core::ByteWriter& bytes) {
  task.shape.save(bytes);
  bytes.write_count(task.of_predictions.size());
  for (const SumTask::Cuts& one : task.of_predictions) {
    save_planned(one.planned, bytes);
    bytes.write_count(one.cuts.size());
    for (const std::string& cut : one.cuts) bytes.write_text(cut);
  }
  bytes.write(static_cast<std::uint8_t>(task.estimator));
  bytes.write_count(task.control);
  bytes.write(static_cast<std::uint8_t>(task.free_control ? 1 : 0));
  bytes.write_all(task.weight_of_arm);
  bytes.write(static_cast<std::uint8_t>(task.cost_facts.kind));
  bytes.write_all(task.cost_facts.per_arm);
}

SumTask load_sums(core::ByteReader& bytes) {
  SumTask task;
  task.shape = SumShape::load(bytes);
  const std::size_t num_arms = task.shape.num_arms;
  std::size_t num_plans = num_arms;
  const std::size_t count = bytes.read_count(8);
  for (std::size_t i = 0; i < count; ++i) {
    SumTask::Cuts& one = task.of_predictions.emplace_back();
    one.planned = load_planned(bytes, num_arms);
    const std::size_t cuts = bytes.read_count(8);
    for (std::size_t cut = 0; cut < cuts; ++cut) one.cuts.push_back(bytes.read_text());
    num_plans += cuts;
  }
  bytes.require(num_plans == task.shape.num_plans, "sums of other plans");
  const auto estimator = bytes.read<std::uint8_t>();
  task.control = bytes.read<std::uint64_t>();
  const auto free_control = bytes.read<std::uint8_t>();
  task.weight_of_arm = bytes.read_all<double>();
  const auto kind = bytes.read<std::uint8_t>();
  task.cost_facts.per_arm = bytes.read_all<double>();
  const auto fits = [&](std::size_t size) { return size == 0 || size == num_arms; };
  bytes.require(estimator <= static_cast<std::uint8_t>(Estimator::doubly_robust) && task.control < num_arms &&
                    free_control <= 1 && fits(task.weight_of_arm.size()) && fits(task.cost_facts.per_arm.size()) &&
                    kind <= static_cast<std::uint8_t>(data::CostKind::price_if) && all_finite(task.weight_of_arm) &&
                    all_finite(task.cost_facts.per_arm) && (kind == 0) == task.cost_facts.per_arm.empty(),
                "an estimator that cannot be");
  task.estimator = static_cast<Estimator>(estimator);
  task.free_control = free_control == 1;
  task.cost_facts.kind = static_cast<data::CostKind>(kind);
  return task;
}

// The units of a block as a solver sees them.
struct BlockUnits {
  std::vector<float> revenue, cost;  // of mean outcomes only
  std::vector<std::uint64_t> keys;   // likewise
  allocate::Units units;
};

BlockUnits units_of(const JudgedBlock& block, const Planned& planned) {
  BlockUnits made;
  if (planned.mean_revenue.empty()) {
    if (planned.prediction >= block.num_predictions())
      throw core::data_error("judged rows", "there is no such prediction");
    const Outcomes outcomes = block.outcomes(planned.prediction);
    made.units = {outcomes.revenue, outcomes.cost, {}, 0, block.key};
    return made;
  }
  for (const std::uint64_t key : block.key) {
    made.revenue.insert(made.revenue.end(), planned.mean_revenue.begin(), planned.mean_revenue.end());
    made.cost.insert(made.cost.end(), planned.mean_cost.begin(), planned.mean_cost.end());
    made.keys.push_back(random_key(key));
  }
  made.units = {{made.revenue.data(), block.size(), block.num_arms},
                {made.cost.data(), block.size(), block.num_arms},
                {},
                0,
                made.keys};
  return made;
}

// The rows as estimators see them.
TrialRows rows_of(const JudgedBlock& block, const SumTask& task) {
  TrialRows rows;
  rows.arms.labels.resize(block.num_arms);
  rows.arms.control = task.control;
  rows.cost_facts = task.cost_facts;
  rows.arm = block.arm;
  rows.revenue = block.revenue;
  rows.cost = block.cost;
  rows.has_propensity = !block.propensity.empty();
  for (std::size_t row = 0; row < block.size(); ++row) {
    rows.weight.push_back(rows.has_propensity ? 1.0 / static_cast<double>(block.propensity[row])
                                              : task.weight_of_arm[block.arm[row]]);
  }
  return rows;
}

}  // namespace

const char* JudgeTask::kind() const {
  if (sums) return "sums";
  return allocate::PathPass::from_bytes(path->pass).kind() == allocate::PathPass::Kind::sample ? "sample" : "path";
}

std::string JudgeTask::to_bytes() const {
  core::ByteWriter bytes;
  bytes.write(kTaskLetters);
  bytes.write(static_cast<std::uint8_t>(path ? 1 : 0));
  if (path) {
    bytes.write_count(path->num_arms);
    save_planned(path->planned, bytes);
    bytes.write_text(path->pass);
  } else {
    save_sums(*sums, bytes);
  }
  return std::move(bytes).seal();
}

JudgeTask JudgeTask::from_bytes(std::string_view text) {
  core::ByteReader bytes(text, "a task");
  bytes.unseal();
  bytes.require(bytes.read<std::uint64_t>() == kTaskLetters, "these bytes are no task");
  JudgeTask task;
  if (bytes.read<std::uint8_t>() == 1) {
    const auto num_arms = bytes.read<std::uint64_t>();
    bytes.require(num_arms >= 2 && num_arms <= data::kMostArms, "too many arms, or too few");
    task.path.emplace();
    task.path->num_arms = static_cast<std::size_t>(num_arms);
    task.path->planned = load_planned(bytes, task.path->num_arms);
    task.path->pass = bytes.read_text();
  } else {
    task.sums = load_sums(bytes);
  }
  bytes.end();
  return task;
}

JudgePart::JudgePart(JudgeTask task) : task_(std::move(task)) {
  if (task_.sums) {
    sums_.emplace(task_.sums->shape);
    return;
  }
  pass_ = allocate::PathPass::from_bytes(task_.path->pass);
  prices_.emplace(task_.path->planned.rules);
  found_.emplace(*pass_, task_.path->planned.rules, *prices_, task_.path->num_arms);
}

void JudgePart::add(const JudgedBlock& block, core::RunContext& context) {
  if (block.num_arms != (task_.path ? task_.path->num_arms : task_.sums->shape.num_arms))
    throw core::data_error("judged rows", "other arms than the task's");
  if (task_.path) {
    add_path(block);
  } else {
    add_sums(block, context);
  }
}

void JudgePart::add_path(const JudgedBlock& block) {
  const BlockUnits made = units_of(block, task_.path->planned);
  found_->add(made.units, 0, made.units.size());
}

void JudgePart::add_sums(const JudgedBlock& block, core::RunContext& context) {
  const SumTask& task = *task_.sums;
  if (block.propensity.empty() && task.weight_of_arm.empty() && block.size() > 0)
    throw core::data_error("judged rows", "there are no propensities");
  std::vector<std::vector<std::uint8_t>> plans;
  for (const SumTask::Cuts& one : task.of_predictions) {
    const BlockUnits made = units_of(block, one.planned);
    for (const std::string& bytes : one.cuts) {
      std::vector<std::uint8_t>& arms = plans.emplace_back(block.size());
      const allocate::PathCut cut = allocate::PathCut::from_bytes(bytes, block.num_arms);
      allocate::assign(made.units, one.planned.rules, cut, arms.data(), context);
    }
  }
  for (std::size_t arm = 0; arm < block.num_arms; ++arm)
    plans.emplace_back(block.size(), static_cast<std::uint8_t>(arm));
  const bool is_doubly_robust = task.estimator == Estimator::doubly_robust;
  if (is_doubly_robust && block.num_predictions() == 0) throw core::data_error("judged rows", "there is no nuisance");
  const TrialRows rows = rows_of(block, task);
  const Rewards rewards(rows, task.estimator,
                        is_doubly_robust ? block.outcomes(block.num_predictions() - 1) : Outcomes(), task.free_control);
  sums_->add(rewards, block.key, plans);
}

void JudgePart::merge_bytes(std::string_view bytes) {
  if (sums_) {
    sums_->merge(JudgedSums::from_bytes(bytes, task_.sums->shape));
  } else {
    found_->merge_bytes(bytes);
  }
}

std::string JudgePart::to_bytes() { return sums_ ? sums_->to_bytes() : found_->to_bytes(); }

}  // namespace dfcl::evaluate
