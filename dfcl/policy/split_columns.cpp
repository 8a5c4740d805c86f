// SPDX-License-Identifier: Apache-2.0
#include "dfcl/policy/split_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "dfcl/core/parallel.h"
#include "dfcl/trees/feature_bins.h"

namespace dfcl::policy {
namespace {

constexpr float kNoCut = std::numeric_limits<float>::infinity();

void set_numbers(const trees::FeatureBins& bins, std::span<const float> values, SplitColumn& column) {
  column.cuts = bins.cuts;
  const std::size_t num_numbers = column.cuts.size() + 1;
  column.group.resize(values.size());
  for (std::size_t unit = 0; unit < values.size(); ++unit) {
    const float value = values[unit];
    if (!std::isfinite(value)) {
      column.has_missing = true;
      column.group[unit] = static_cast<std::uint8_t>(num_numbers);
      continue;
    }
    const auto above = std::lower_bound(column.cuts.begin(), column.cuts.end(), value);
    column.group[unit] = static_cast<std::uint8_t>(above - column.cuts.begin());
  }
  column.num_groups = num_numbers + (column.has_missing ? 1 : 0);
  std::vector<std::uint8_t> rising(num_numbers);
  std::iota(rising.begin(), rising.end(), std::uint8_t{0});
  if (!column.has_missing) {
    column.orders = {{rising, num_numbers - 1}};
    return;
  }
  std::vector<std::uint8_t> missing_first = {static_cast<std::uint8_t>(num_numbers)};
  missing_first.insert(missing_first.end(), rising.begin(), rising.end());
  rising.push_back(static_cast<std::uint8_t>(num_numbers));
  column.orders = {{missing_first, num_numbers}, {rising, num_numbers - 1}};
}

void set_levels(std::size_t num_levels, std::span<const float> values, std::span<const double> target,
                SplitColumn& column) {
  std::vector<double> sum(num_levels + 1);  // the last: missing
  std::vector<double> count(num_levels + 1);
  const auto place = [&](float value) {
    if (!std::isfinite(value)) return num_levels;
    return value >= 0.0f && value < static_cast<float>(num_levels) ? static_cast<std::size_t>(value) : std::size_t{0};
  };
  for (std::size_t unit = 0; unit < values.size(); ++unit) {
    sum[place(values[unit])] += target[unit];
    count[place(values[unit])] += 1.0;
  }
  column.has_missing = count[num_levels] > 0.0;
  double all = 0.0;
  for (const double part : sum) all += part;
  const double mean = all / static_cast<double>(values.size());
  // Levels that no unit has stand where they decide nothing.
  const auto mean_of = [&](std::size_t level) { return count[level] > 0.0 ? sum[level] / count[level] : mean; };
  std::vector<std::size_t> order(num_levels);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return mean_of(a) < mean_of(b); });
  column.group_of_level.resize(num_levels);
  const std::size_t num_groups = std::min(num_levels, kMostGroups);
  double before = 0.0;
  for (std::size_t i = 0; i < num_levels; ++i) {
    const double share = (before + 0.5 * count[order[i]]) / std::max(1.0, static_cast<double>(values.size()));
    const auto by_share = static_cast<std::size_t>(share * static_cast<double>(num_groups));
    column.group_of_level[order[i]] =
        static_cast<std::uint8_t>(num_levels <= kMostGroups ? i : std::min(by_share, num_groups - 1));
    before += count[order[i]];
  }
  column.group.resize(values.size());
  for (std::size_t unit = 0; unit < values.size(); ++unit) {
    const std::size_t level = place(values[unit]);
    column.group[unit] = level == num_levels ? static_cast<std::uint8_t>(num_groups) : column.group_of_level[level];
  }
  column.num_groups = num_groups + (column.has_missing ? 1 : 0);
  std::vector<std::uint8_t> rising(num_groups);
  std::iota(rising.begin(), rising.end(), std::uint8_t{0});
  if (column.has_missing) {  // one more level
    std::size_t behind = 0;
    while (behind < num_levels && mean_of(order[behind]) < mean_of(num_levels)) ++behind;
    const std::size_t at = behind == num_levels ? num_groups : column.group_of_level[order[behind]];
    rising.insert(rising.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::uint8_t>(num_groups));
  }
  column.orders = {{rising, column.num_groups - 1}};
  for (std::size_t group = 1; group + 1 < rising.size(); ++group) {  // the ends stand alone already
    std::vector<std::uint8_t> alone = {rising[group]};
    for (const std::uint8_t other : rising) {
      if (other != rising[group]) alone.push_back(other);
    }
    column.orders.push_back({alone, 1});
  }
}

// How much of the target's spread lies between the groups.
double spread_between(const SplitColumn& column, std::span<const double> target) {
  std::vector<double> sum(column.num_groups);
  std::vector<double> count(column.num_groups);
  double all = 0.0;
  for (std::size_t unit = 0; unit < target.size(); ++unit) {
    sum[column.group[unit]] += target[unit];
    count[column.group[unit]] += 1.0;
    all += target[unit];
  }
  double spread = -all * all / static_cast<double>(target.size());
  for (std::size_t group = 0; group < sum.size(); ++group) {
    if (count[group] > 0.0) spread += sum[group] * sum[group] / count[group];
  }
  return spread;
}

void keep_best(std::span<const double> target, std::vector<SplitColumn>& columns) {
  if (columns.size() <= kMostFeatures) return;
  std::vector<double> spread;
  for (const SplitColumn& column : columns) spread.push_back(spread_between(column, target));
  std::vector<std::size_t> order(columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return spread[a] > spread[b]; });
  order.resize(kMostFeatures);
  std::sort(order.begin(), order.end());
  std::vector<SplitColumn> kept;
  for (const std::size_t place : order) kept.push_back(std::move(columns[place]));
  columns = std::move(kept);
}

}  // namespace

Question SplitColumn::question(std::size_t order, std::size_t length) const {
  Question asked;
  asked.feature = feature;
  asked.categorical = categorical;
  std::vector<std::uint8_t> chosen(num_groups);
  for (std::size_t i = 0; i < length; ++i) chosen[orders[order].groups[i]] = 1;
  asked.missing_yes = has_missing && chosen[num_groups - 1] != 0;
  if (categorical) {
    asked.yes_levels.reserve(group_of_level.size());
    for (const std::uint8_t group_of : group_of_level) asked.yes_levels.push_back(chosen[group_of]);
    return asked;
  }
  const std::size_t num_numbers = cuts.size() + 1;
  const auto last = static_cast<std::size_t>(
      std::count(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(num_numbers), 1));
  asked.cut = last == 0 ? -kNoCut : last == num_numbers ? kNoCut : cuts[last - 1];
  return asked;
}

SplitColumns split_columns(const std::vector<data::FeatureColumn>& features, core::MatrixView<const float> values,
                           std::span<const double> target, core::RunContext& context) {
  SplitColumns found;
  found.num_units = values.rows;
  found.traits.resize(features.size());
  if (values.rows == 0) return found;
  std::vector<std::uint32_t> rows(values.rows);
  std::iota(rows.begin(), rows.end(), 0u);
  const std::vector<trees::FeatureBins> bins = trees::fit_bins(features, values, rows, kMostGroups + 1, context);
  std::vector<SplitColumn> all(features.size());
  core::for_each_chunk(context, features.size(), 1, [&](std::size_t feature, std::size_t, std::size_t) {
    std::vector<float> of_feature(values.rows);
    bool is_whole = true;
    for (std::size_t unit = 0; unit < values.rows; ++unit) {
      of_feature[unit] = values(unit, feature);
      if (std::isfinite(of_feature[unit]) && of_feature[unit] != std::floor(of_feature[unit])) is_whole = false;
    }
    SplitColumn& column = all[feature];
    column.feature = static_cast<std::uint32_t>(feature);
    column.categorical = features[feature].categorical;
    if (column.categorical) {
      if (!features[feature].levels.empty()) set_levels(features[feature].levels.size(), of_feature, target, column);
    } else {
      set_numbers(bins[feature], of_feature, column);
    }
    found.traits[feature] = {is_whole, column.has_missing, {}};
    if (column.categorical) {
      std::vector<std::uint8_t>& seen = found.traits[feature].seen_levels;
      seen.resize(features[feature].levels.size());
      for (const float code : of_feature) {
        if (code >= 0.0f && code < static_cast<float>(seen.size())) seen[static_cast<std::size_t>(code)] = 1;
      }
    }
  });
  std::erase_if(all, [](const SplitColumn& column) { return column.num_groups < 2; });
  keep_best(target, all);
  found.columns = std::move(all);
  return found;
}

}  // namespace dfcl::policy
