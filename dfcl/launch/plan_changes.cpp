// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/plan_changes.h"

#include <algorithm>

namespace dfcl::launch {
namespace {

void add_unit(ArmTotals& totals, float revenue, float cost) {
  ++totals.units;
  totals.revenue += static_cast<double>(revenue);
  totals.spend += static_cast<double>(cost);
}

}  // namespace

PlanChanges::PlanChanges(const data::Plan& previous, const std::vector<std::string>& arms)
    : previous_has_roles_(previous.has_roles()) {
  change_.arms = arms;
  std::vector<std::uint16_t> place_of_arm;
  for (const std::string& arm : previous.arms) {
    auto found = std::find(change_.arms.begin(), change_.arms.end(), arm);
    if (found == change_.arms.end()) found = change_.arms.insert(change_.arms.end(), arm);
    place_of_arm.push_back(static_cast<std::uint16_t>(found - change_.arms.begin()));
  }
  change_.before.resize(change_.arms.size());
  change_.now.resize(change_.arms.size());
  change_.moves.assign(change_.arms.size(), std::vector<std::size_t>(change_.arms.size()));
  previous_.reserve(previous.num_units());
  for (std::size_t unit = 0; unit < previous.num_units(); ++unit) {
    const std::uint16_t arm = place_of_arm[previous.arm[unit]];
    add_unit(change_.before[arm], previous.revenue[unit], previous.cost[unit]);
    previous_[previous.ids.hash(unit)] = {arm, previous_has_roles_ ? previous.role[unit] : data::Role::plan};
  }
}

void PlanChanges::add(const data::Plan& piece) {
  change_.roles_known = previous_has_roles_ && piece.has_roles();
  for (std::size_t unit = 0; unit < piece.num_units(); ++unit) {
    const std::uint8_t arm = piece.arm[unit];
    add_unit(change_.now[arm], piece.revenue[unit], piece.cost[unit]);
    const auto found = previous_.find(piece.ids.hash(unit));
    if (found == previous_.end() || found->second.seen) {
      ++change_.units_new;
      continue;
    }
    found->second.seen = true;
    ++change_.units_in_both;
    ++change_.moves[found->second.arm][arm];
    if (found->second.arm != arm) ++change_.units_moved;
    if (change_.roles_known &&
        (found->second.role == data::Role::holdout) != (piece.role[unit] == data::Role::holdout)) {
      ++change_.holdout_changed;
    }
  }
}

PlanChange PlanChanges::result() const {
  PlanChange change = change_;
  change.units_gone = previous_.size() - change.units_in_both;
  return change;
}

}  // namespace dfcl::launch
