// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/sums/trial_facts.h"

#include <algorithm>
#include <cmath>

#include "dfcl/data/row_weight.h"

namespace dfcl::evaluate {
namespace {

constexpr std::uint64_t kLetters = 0x3174636166636664u;  // "dfcfact1"
constexpr std::size_t kBytesOfArm = 7 * 545 + 16;

void raise(double& largest, double number) { largest = std::max(largest, std::abs(number)); }

// What a unit adds to the mean from which the cost of its arm is known (data::arm_costs).
double paid_by(const data::Trial& units, std::size_t unit) {
  const auto cost = static_cast<double>(units.cost[unit]);
  switch (units.cost_facts.kind) {
    case data::CostKind::rate: return static_cast<double>(units.revenue[unit]);
    case data::CostKind::price_if: return units.cost_facts.is_paid(units.arm[unit], cost) ? 1.0 : 0.0;
    case data::CostKind::price:
    case data::CostKind::observed: break;
  }
  return cost;
}

}  // namespace

void TrialFacts::Sums::add(const Sums& other) {
  weight.add(other.weight);
  revenue.add(other.revenue);
  cost.add(other.cost);
}

void TrialFacts::add(const data::Trial& units, data::Split judged, const Outcomes& nuisance) {
  for (std::size_t unit = 0; unit < units.num_units(); ++unit) {
    Arm& arm = arms_[units.arm[unit]];
    const bool is_judged = units.split[unit] == judged;
    const auto revenue = static_cast<double>(units.revenue[unit]);
    const auto cost = static_cast<double>(units.cost[unit]);
    const double weight = data::row_weight(units, unit);
    ++arm.units;
    arm.judged += is_judged ? 1 : 0;
    arm.paid.add(paid_by(units, unit));
    Sums& sums = is_judged ? arm.judged_sums : arm.others;
    sums.weight.add(weight);
    sums.revenue.add(weight * revenue);
    sums.cost.add(weight * cost);
    if (!units.propensity.empty()) raise(largest_.weight, weight);
    if (!is_judged) continue;
    raise(largest_.revenue, revenue);
    raise(largest_.cost, cost);
  }
  for (std::size_t row = 0; row < nuisance.revenue.rows; ++row) {
    for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
      raise(largest_.nuisance_revenue, static_cast<double>(nuisance.revenue(row, arm)));
      raise(largest_.nuisance_cost, static_cast<double>(nuisance.cost(row, arm)));
    }
  }
}

void TrialFacts::merge(const TrialFacts& other) {
  if (other.num_units() == 0) return;
  if (other.arms_.size() != arms_.size() || (num_units() > 0 && has_propensity() != other.has_propensity()))
    throw core::data_error("facts of a trial", "parts of the trial that do not fit together");
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    Arm& own = arms_[arm];
    const Arm& more = other.arms_[arm];
    own.units += more.units;
    own.judged += more.judged;
    own.paid.add(more.paid);
    own.judged_sums.add(more.judged_sums);
    own.others.add(more.others);
  }
  raise(largest_.revenue, other.largest_.revenue);
  raise(largest_.cost, other.largest_.cost);
  raise(largest_.weight, other.largest_.weight);
  raise(largest_.nuisance_revenue, other.largest_.nuisance_revenue);
  raise(largest_.nuisance_cost, other.largest_.nuisance_cost);
}

std::string TrialFacts::to_bytes() const {
  core::ByteWriter bytes;
  bytes.write(kLetters);
  bytes.write_count(arms_.size());
  for (const Arm& arm : arms_) {
    bytes.write(arm.units);
    bytes.write(arm.judged);
    for (const auto* sum : {&arm.paid, &arm.judged_sums.weight, &arm.judged_sums.revenue, &arm.judged_sums.cost,
                            &arm.others.weight, &arm.others.revenue, &arm.others.cost})
      sum->save(bytes);
  }
  bytes.write(largest_);
  return std::move(bytes).seal();
}

TrialFacts TrialFacts::from_bytes(std::string_view text) {
  core::ByteReader bytes(text, "facts of a trial");
  bytes.unseal();
  bytes.require(bytes.read<std::uint64_t>() == kLetters, "these bytes are no facts of a trial");
  TrialFacts facts(bytes.read_count(kBytesOfArm));
  bytes.require(facts.arms_.size() <= data::kMostArms, "too many arms");
  for (Arm& arm : facts.arms_) {
    arm.units = bytes.read<std::uint64_t>();
    arm.judged = bytes.read<std::uint64_t>();
    bytes.require(arm.judged <= arm.units && arm.units < (std::uint64_t{1} << 40), "a number of units that cannot be");
    for (auto* sum : {&arm.paid, &arm.judged_sums.weight, &arm.judged_sums.revenue, &arm.judged_sums.cost,
                      &arm.others.weight, &arm.others.revenue, &arm.others.cost})
      *sum = core::ExactTotal::load(bytes);
  }
  facts.largest_ = bytes.read<LargestNumbers>();
  const LargestNumbers& largest = facts.largest_;
  for (const double number :
       {largest.revenue, largest.cost, largest.weight, largest.nuisance_revenue, largest.nuisance_cost})
    bytes.require(number >= 0.0 && std::isfinite(number), "a number that is not finite");
  bytes.end();
  return facts;
}

std::size_t TrialFacts::num_units() const {
  std::size_t units = 0;
  for (const Arm& arm : arms_) units += arm.units;
  return units;
}

std::size_t TrialFacts::num_judged() const {
  std::size_t units = 0;
  for (const Arm& arm : arms_) units += arm.judged;
  return units;
}

std::vector<std::size_t> TrialFacts::judged_per_arm() const {
  std::vector<std::size_t> units;
  for (const Arm& arm : arms_) units.push_back(arm.judged);
  return units;
}

data::ArmCosts TrialFacts::costs(const data::CostFacts& facts, std::size_t control) const {
  data::ArmCosts costs{std::vector<double>(arms_.size()), control};
  if (facts.kind == data::CostKind::price) {
    costs.mean = facts.per_arm;
    return costs;
  }
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    if (arms_[arm].units > 0) costs.mean[arm] = arms_[arm].paid.value() / static_cast<double>(arms_[arm].units);
    if (facts.is_known()) costs.mean[arm] *= facts.per_arm[arm];
  }
  return costs;
}

ArmMeans TrialFacts::means(const data::CostFacts& facts) const {
  const bool from_others =
      std::all_of(arms_.begin(), arms_.end(), [](const Arm& arm) { return arm.units > arm.judged; });
  ArmMeans means{{}, {}, from_others};
  for (const Arm& arm : arms_) {
    Sums sums = arm.others;
    if (!from_others) sums.add(arm.judged_sums);
    means.revenue.push_back(sums.revenue.value() / sums.weight.value());
    means.cost.push_back(sums.cost.value() / sums.weight.value());
  }
  if (facts.kind == data::CostKind::price) means.cost = facts.per_arm;
  return means;
}

}  // namespace dfcl::evaluate
