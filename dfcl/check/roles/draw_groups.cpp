// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/roles/draw_groups.h"

#include <algorithm>

#include "dfcl/check/roles/role_words.h"

namespace dfcl::check {
namespace {

using data::SampledColumn;
constexpr std::size_t kFewestGroups = 30;  // of more than one row
constexpr double kLeastShare = 0.05;       // share of rows in such groups
constexpr double kMostMixed = 0.1;         // of what drawing row by row would have mixed

struct Grouping {
  std::size_t groups = 0;    // with more than one row
  std::size_t mixed = 0;     // of them
  std::size_t rows = 0;      // in them
  bool in_every_arm = true;  // some group is of that arm alone: amounts that only one arm was given are no groups
  double mixed_by_chance = 0.0;
};

Grouping grouping_of(const data::SampledColumn& column, const ArmCodes& arms) {
  std::uint32_t most = 0;
  for (const std::uint32_t code : column.codes) most = code == SampledColumn::kMissing ? most : std::max(most, code);
  std::vector<std::uint32_t> rows(most + 1), first(most + 1, SampledColumn::kMissing);
  std::vector<std::uint8_t> mixed(most + 1);
  std::vector<double> share(arms.num_arms);
  for (std::size_t row = 0; row < column.codes.size(); ++row) {
    const std::uint32_t code = column.codes[row];
    const std::uint32_t arm = arms.arm[row];
    if (code == SampledColumn::kMissing || arm == SampledColumn::kMissing) continue;
    share[arm] += 1.0 / static_cast<double>(column.codes.size());
    ++rows[code];
    if (first[code] == SampledColumn::kMissing) first[code] = arm;
    if (first[code] != arm) mixed[code] = 1;
  }
  double same = 0.0;  // two rows have the same arm by chance
  for (const double one : share) same += one * one;
  Grouping grouping;
  std::vector<bool> has_group(arms.num_arms);
  for (std::size_t group = 0; group <= most; ++group) {
    if (rows[group] < 2) continue;
    ++grouping.groups;
    grouping.rows += rows[group];
    grouping.mixed += mixed[group];
    grouping.mixed_by_chance += 1.0 - same;  // at least
    if (mixed[group] == 0) has_group[first[group]] = true;
  }
  grouping.in_every_arm = std::find(has_group.begin(), has_group.end(), false) == has_group.end();
  return grouping;
}

}  // namespace

DrawGroups find_draw_groups(const data::TableSample& sample, const ArmChoice& arm, const std::vector<bool>& unique) {
  DrawGroups best;
  int best_name = -1;
  for (std::size_t i = 0; i < sample.columns.size(); ++i) {
    const data::SampledColumn& column = sample.columns[i];
    if (i == arm.column || unique[i] || column.codes.empty()) continue;
    const Grouping grouping = grouping_of(column, arm.codes);
    if (grouping.groups < kFewestGroups || !grouping.in_every_arm ||
        static_cast<double>(grouping.rows) < kLeastShare * static_cast<double>(sample.num_rows) ||
        static_cast<double>(grouping.mixed) > kMostMixed * grouping.mixed_by_chance)
      continue;
    const int name = std::max(name_score(column.name, Word::cluster), name_score(column.name, Word::id));
    const bool is_better = !best.column || name > best_name || (name == best_name && grouping.groups < best.num_groups);
    if (!is_better) continue;
    best = {i, grouping.groups, static_cast<double>(grouping.mixed) / static_cast<double>(grouping.groups)};
    best_name = name;
  }
  return best;
}

}  // namespace dfcl::check
