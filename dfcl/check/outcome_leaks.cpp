// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/outcome_leaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfcl/check/draws.h"
#include "dfcl/core/parallel.h"

namespace dfcl::check {
namespace {

constexpr std::size_t kBins = 64;     // of a number, with equally many rows
constexpr double kRareRevenue = 0.5;  // what more than half of the units have has too much within it
constexpr std::size_t kFewestRows = 200;
constexpr double kFewestOfEach = 30.0;  // units with revenue, and without, for a feature to tell them apart
constexpr double kTold = 0.99;          // of those with revenue and of those without
constexpr double kFewestOfLevel = 5.0;  // rows of a category that can tell anything

// Revenue less the mean of its arm, for the sampled rows.
std::vector<double> residual_revenue(const data::Trial& trial, const std::vector<std::uint64_t>& sample) {
  std::vector<double> sum(trial.arms.size()), count(trial.arms.size());
  for (const std::uint64_t row : sample) {
    sum[trial.arm[row]] += static_cast<double>(trial.revenue[row]);
    count[trial.arm[row]] += 1.0;
  }
  std::vector<double> residual;
  residual.reserve(sample.size());
  for (const std::uint64_t row : sample)
    residual.push_back(static_cast<double>(trial.revenue[row]) - sum[trial.arm[row]] / count[trial.arm[row]]);
  return residual;
}

struct Value {
  float feature;  // infinity where missing
  double residual;
  bool earned;
};

std::vector<Value> sorted_values(const data::Trial& trial, std::size_t feature,
                                 const std::vector<std::uint64_t>& sample, const std::vector<double>& residual) {
  std::vector<Value> values;
  values.reserve(sample.size());
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const float value = trial.features.values(sample[i], feature);
    values.push_back({std::isfinite(value) ? value : INFINITY, residual[i], trial.revenue[sample[i]] != 0.0f});
  }
  std::stable_sort(values.begin(), values.end(), [](const Value& a, const Value& b) { return a.feature < b.feature; });
  return values;
}

// The share of the revenue's variance within arms that bins (or levels) of the feature explain, beyond chance.
double explained_share(const std::vector<Value>& values, bool by_level) {
  double total = 0.0, mean = 0.0;
  for (const Value& value : values) mean += value.residual / static_cast<double>(values.size());
  for (const Value& value : values) total += (value.residual - mean) * (value.residual - mean);
  if (total <= 0.0) return 0.0;
  const std::size_t least = by_level ? 1 : std::max<std::size_t>(1, values.size() / kBins);
  double between = 0.0;
  double bins = 0.0;
  for (std::size_t begin = 0; begin < values.size();) {
    std::size_t end = std::min(values.size(), begin + least);
    while (end < values.size() && values[end].feature == values[end - 1].feature) ++end;  // equal values stay together
    double sum = 0.0;
    for (std::size_t i = begin; i < end; ++i) sum += values[i].residual - mean;
    between += sum * sum / static_cast<double>(end - begin);
    bins += 1.0;
    begin = end;
  }
  return std::max(0.0, between / total - (bins - 1.0) / static_cast<double>(values.size()));
}

struct Overlap {
  double rows = 0.0;          // with both values
  double with_revenue = 0.0;  // of them
  double with_feature = 0.0;  // whose feature is not 0
  double outside = 0.0;       // whose feature is not 0 though the revenue is
};

Overlap overlap_of(const data::Trial& trial, std::size_t feature, core::RunContext& context) {
  return core::sum_chunks(
      context, trial.num_units(), chunk_size_of(trial.num_units()), Overlap(),
      [&](std::size_t begin, std::size_t end) {
        Overlap part;
        for (std::size_t row = begin; row < end; ++row) {
          const float value = trial.features.values(row, feature);
          if (!std::isfinite(value)) continue;
          const bool earned = trial.revenue[row] != 0.0f;
          part.rows += 1.0;
          part.with_revenue += earned ? 1.0 : 0.0;
          if (value == 0.0f) continue;
          part.with_feature += 1.0;
          part.outside += earned ? 0.0 : 1.0;
        }
        return part;
      },
      [](Overlap& total, const Overlap& part) {
        total.rows += part.rows;
        total.with_revenue += part.with_revenue;
        total.with_feature += part.with_feature;
        total.outside += part.outside;
      });
}

// "non-zero only where the revenue is" by chance has the probability r^n, with r the share of units with revenue.
std::string overlap_reason(const data::Trial& trial, std::size_t feature, const std::vector<std::uint64_t>& sample,
                           double level, core::RunContext& context) {
  if (trial.features.columns[feature].categorical) return "";
  for (const std::uint64_t row : sample) {  // most features end here, without a pass over all units
    const float value = trial.features.values(row, feature);
    if (std::isfinite(value) && value != 0.0f && trial.revenue[row] == 0.0f) return "";
  }
  const Overlap overlap = overlap_of(trial, feature, context);
  if (overlap.outside > 0.0 || overlap.with_feature == 0.0 || overlap.with_revenue > kRareRevenue * overlap.rows)
    return "";
  if (overlap.with_feature * std::log(overlap.with_revenue / overlap.rows) >= std::log(level)) return "";
  return fmt::format("in all {:.0f} units where it is not 0 there is revenue, which {:.2g} % of the units have",
                     overlap.with_feature, 100.0 * overlap.with_revenue / overlap.rows);
}

struct Earners {
  double with = 0.0;  // units with revenue
  double without = 0.0;

  void add(const Earners& other) {
    with += other.with;
    without += other.without;
  }
};

// The shares of the units with and without revenue that a rule calls so.
struct Told {
  double with = 0.0;
  double without = 0.0;

  double least() const { return std::min(with, without); }
};

// Calls fn(earners, is_missing) for each value in turn.
template <typename Fn>
void for_each_value(const std::vector<Value>& values, Fn fn) {
  for (std::size_t begin = 0; begin < values.size();) {
    Earners earners;
    std::size_t end = begin;
    for (; end < values.size() && values[end].feature == values[begin].feature; ++end)
      earners.add(values[end].earned ? Earners{1.0, 0.0} : Earners{0.0, 1.0});
    fn(earners, std::isinf(values[begin].feature));
    begin = end;
  }
}

// Of a category: each level is called after those whose larger share it holds.
Told told_by_levels(const std::vector<Value>& values, const Earners& all) {
  Told told;
  for_each_value(values, [&](const Earners& earners, bool) {
    if (earners.with + earners.without < kFewestOfLevel) return;
    const double with = earners.with / all.with;
    const double without = earners.without / all.without;
    (with > without ? told.with : told.without) += std::max(with, without);
  });
  return told;
}

// Of a number: the best cut, on either side of which revenue may be, with the missing values on either side.
Told told_by_cut(const std::vector<Value>& values, const Earners& all) {
  Earners missing;
  for_each_value(values, [&](const Earners& earners, bool is_missing) {
    if (is_missing) missing = earners;
  });
  Told best;
  Earners below;
  const auto look = [&](Earners side) {
    const double with = side.with / all.with;
    const double without = side.without / all.without;
    for (const Told told : {Told{with, 1.0 - without}, Told{1.0 - with, without}}) {
      if (told.least() > best.least()) best = told;
    }
  };
  look(missing);
  for_each_value(values, [&](const Earners& earners, bool is_missing) {
    if (is_missing) return;
    below.add(earners);
    look(below);
    Earners with_missing = below;
    with_missing.add(missing);
    look(with_missing);
  });
  return best;
}

// "basket_value" is missing where nothing was bought; a count of items is above 0 where there is revenue.
std::string told_reason(const std::vector<Value>& values, bool by_level) {
  Earners all;
  for_each_value(values, [&](const Earners& earners, bool) { all.add(earners); });
  if (std::min(all.with, all.without) < kFewestOfEach) return "";
  const Told told = by_level ? told_by_levels(values, all) : told_by_cut(values, all);
  if (told.least() < kTold) return "";
  const double share = (told.with * all.with + told.without * all.without) / (all.with + all.without);
  return fmt::format("alone it tells of {:.4g} % of the units whether there is revenue", 100.0 * share);
}

}  // namespace

void find_outcome_leaks(const data::Trial& trial, const RowGroups& order, const CheckOptions& options,
                        std::vector<bool>& left_out, std::vector<Suspect>& suspects, core::RunContext& context) {
  const std::size_t num_features = trial.features.num_features();
  const std::vector<std::uint64_t> sample = sample_rows(order, options.quantile_rows);
  if (sample.size() < kFewestRows) return;
  const std::vector<double> residual = residual_revenue(trial, sample);
  std::vector<double> explained(num_features);
  std::vector<std::string> told(num_features);
  core::for_each_chunk(context, num_features, 1, [&](std::size_t feature, std::size_t, std::size_t) {
    if (left_out[feature]) return;
    const std::vector<Value> values = sorted_values(trial, feature, sample, residual);
    const bool by_level = trial.features.columns[feature].categorical;
    explained[feature] = explained_share(values, by_level);
    told[feature] = told_reason(values, by_level);
  });
  const double level = options.unfit_p / static_cast<double>(std::max<std::size_t>(1, num_features));
  for (std::size_t feature = 0; feature < num_features; ++feature) {
    if (left_out[feature]) continue;
    std::string why = explained[feature] >= options.suspect_explained
                          ? fmt::format("alone it explains {:.1f} % of the revenue's variance within arms",
                                        100.0 * explained[feature])
                      : !told[feature].empty() ? told[feature]
                                               : overlap_reason(trial, feature, sample, level, context);
    if (why.empty()) continue;
    left_out[feature] = true;
    const std::string& name = trial.features.columns[feature].name;
    suspects.push_back({name, why,
                        fmt::format("if '{}' is measured with or after the revenue, add it to [columns] exclude", name),
                        SuspectOf::revenue});
  }
}

}  // namespace dfcl::check
