// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/feature_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/core/for_each_processor.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/parallel.h"
#include "dfcl/core/printable.h"

namespace dfcl::model {
namespace {

std::size_t bin_of(const FeatureSummary& summary, float value) {
  return static_cast<std::size_t>(std::lower_bound(summary.cuts.begin(), summary.cuts.end(), value) -
                                  summary.cuts.begin());
}

DFCL_FOR_EACH_PROCESSOR std::uint32_t count_missing(const float* values, std::size_t size) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < size; ++i) count += values[i] != values[i] ? 1u : 0u;
  return count;
}

DFCL_FOR_EACH_PROCESSOR std::uint32_t count_above(const float* values, std::size_t size, float cut) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < size; ++i) count += values[i] > cut ? 1u : 0u;
  return count;
}

// Of a category: the place among the counts.
std::size_t place_of(const FeatureSummary& summary, float value) {
  if (!(value >= 1.0f)) return 0;
  const auto found = std::find(summary.levels.begin(), summary.levels.end(), static_cast<std::uint32_t>(value));
  return 1 + static_cast<std::size_t>(found - summary.levels.begin());
}

// values: not missing, in any order.
FeatureSummary summarise_numbers(std::vector<float>& values) {
  FeatureSummary summary;
  std::sort(values.begin(), values.end());
  for (std::size_t cut = 1; cut < kSummaryBins && !values.empty(); ++cut) {
    const float value = values[values.size() * cut / kSummaryBins];
    if (summary.cuts.empty() || value > summary.cuts.back()) summary.cuts.push_back(value);
  }
  // A bin ends with its cut: the last one would be empty where the largest value is common.
  if (!summary.cuts.empty() && summary.cuts.back() == values.back()) summary.cuts.pop_back();
  summary.counts.resize(summary.cuts.size() + 1);
  for (const float value : values) ++summary.counts[bin_of(summary, value)];
  if (!values.empty()) summary.last = values[values.size() - (summary.counts.back() + 1) / 2];
  return summary;
}

FeatureSummary summarise_codes(const std::vector<float>& values, std::size_t num_levels) {
  std::vector<std::uint64_t> per_level(num_levels);
  for (const float value : values) ++per_level[static_cast<std::size_t>(value)];
  std::vector<std::uint32_t> order(num_levels - 1);
  std::iota(order.begin(), order.end(), 1u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return per_level[a] > per_level[b]; });
  order.resize(std::min(order.size(), kSummaryLevels));
  FeatureSummary summary;
  summary.levels = order;
  summary.counts.resize(order.size() + 2);
  for (const float value : values) ++summary.counts[place_of(summary, value)];
  return summary;
}

std::uint64_t sum_of(const std::vector<std::uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

constexpr double kStandardErrors = 4.0;

// Shares of two samples of which one unit in `size` counts; s = 1 / size + 1 / size.
DriftFigure share_figure(std::uint64_t then, std::uint64_t of_then, std::uint64_t now, std::uint64_t of_now) {
  constexpr double kLimit = 0.05;
  if (of_then == 0 || of_now == 0) return {0.0, 0.0, kLimit};
  const double s = 1.0 / static_cast<double>(of_then) + 1.0 / static_cast<double>(of_now);
  const double both = static_cast<double>(then + now) / static_cast<double>(of_then + of_now);
  return {static_cast<double>(then) / static_cast<double>(of_then),
          static_cast<double>(now) / static_cast<double>(of_now),
          kLimit + kStandardErrors * std::sqrt(both * (1.0 - both) * s)};
}

DriftFigure stability_figure(const std::vector<std::uint64_t>& then, const std::vector<std::uint64_t>& now) {
  constexpr double kLimit = 0.1;
  const auto bins = static_cast<double>(then.size());
  const auto of_then = static_cast<double>(sum_of(then));
  const auto of_now = static_cast<double>(sum_of(now));
  if (of_then == 0.0 || of_now == 0.0) return {0.0, 0.0, kLimit};
  double index = 0.0;
  for (std::size_t bin = 0; bin < then.size(); ++bin) {  // half a unit more in each bin, so that none is empty
    const double p = (static_cast<double>(then[bin]) + 0.5) / (of_then + 0.5 * bins);
    const double q = (static_cast<double>(now[bin]) + 0.5) / (of_now + 0.5 * bins);
    index += (q - p) * std::log(q / p);
  }
  // Of two samples of the same units the index is about s times a chi-square of bins - 1 degrees.
  const double s = 1.0 / of_then + 1.0 / of_now;
  const double noise = s * (bins - 1.0 + kStandardErrors * std::sqrt(2.0 * (bins - 1.0)));
  return {0.0, index, kLimit + noise};
}

}  // namespace

std::vector<FeatureSummary> summarise_features(const data::Features& features, const data::Ids& ids,
                                               std::span<const std::uint32_t> rows, core::RunContext& context) {
  constexpr double kMostUnits = 131'072.0;
  constexpr double kAll = 0x1p32;
  const double keep_below =
      kAll * std::min(1.0, kMostUnits / static_cast<double>(std::max<std::size_t>(1, rows.size())));
  std::vector<std::uint32_t> sample;
  for (const std::uint32_t row : rows) {
    if (keep_below >= kAll || static_cast<double>(core::mix_bits(ids.hash(row)) >> 32) < keep_below)
      sample.push_back(row);
  }
  std::vector<FeatureSummary> summaries(features.num_features());
  core::for_each_chunk(context, summaries.size(), 1, [&](std::size_t feature, std::size_t, std::size_t) {
    std::vector<float> values;
    for (const std::uint32_t row : sample) {
      const float value = features.values(row, feature);
      if (!std::isnan(value)) values.push_back(value + 0.0f);  // no minus zero
    }
    const data::FeatureColumn& column = features.columns[feature];
    summaries[feature] = column.categorical ? summarise_codes(values, column.levels.size()) : summarise_numbers(values);
    summaries[feature].missing = sample.size() - values.size();
  });
  return summaries;
}

bool is_good(const FeatureSummary& summary, const data::FeatureColumn& column) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;  // units, so that sums do not overflow
  const auto is_small = [](std::uint64_t count) { return count <= kMost; };
  if (!is_small(summary.missing) || !std::all_of(summary.counts.begin(), summary.counts.end(), is_small)) return false;
  if (!column.categorical) {
    const auto falls = [](float a, float b) { return !(a < b); };  // also where one is not a number
    return summary.levels.empty() && summary.cuts.size() < kSummaryBins &&
           summary.counts.size() == summary.cuts.size() + 1 &&
           std::all_of(summary.cuts.begin(), summary.cuts.end(), [](float cut) { return std::isfinite(cut); }) &&
           (!summary.last || (std::isfinite(*summary.last) && bin_of(summary, *summary.last) == summary.cuts.size())) &&
           std::adjacent_find(summary.cuts.begin(), summary.cuts.end(), falls) == summary.cuts.end();
  }
  const auto is_level = [&](std::uint32_t code) { return code >= 1 && code < column.levels.size(); };
  std::vector<std::uint32_t> codes = summary.levels;
  std::sort(codes.begin(), codes.end());
  return summary.cuts.empty() && !summary.last && codes.size() <= kSummaryLevels &&
         summary.counts.size() == codes.size() + 2 && std::all_of(codes.begin(), codes.end(), is_level) &&
         std::adjacent_find(codes.begin(), codes.end()) == codes.end();
}

FeatureCounts::FeatureCounts(const std::vector<FeatureSummary>& summaries)
    : summaries_(&summaries), missing_(summaries.size()) {
  for (const FeatureSummary& summary : summaries) counts_.emplace_back(summary.counts.size());
}

void FeatureCounts::add(core::MatrixView<const float> features) {
  constexpr std::size_t kBlockRows = 512;  // whose features stay in the second-level cache
  num_units_ += features.rows;
  float values[kBlockRows];
  for (std::size_t first = 0; first < features.rows; first += kBlockRows) {
    const std::size_t count = std::min(kBlockRows, features.rows - first);
    for (std::size_t feature = 0; feature < counts_.size(); ++feature) {
      const FeatureSummary& summary = (*summaries_)[feature];
      std::vector<std::uint64_t>& counts = counts_[feature];
      for (std::size_t i = 0; i < count; ++i) values[i] = features(first + i, feature);
      if (counts.size() != summary.cuts.size() + 1) {  // a category
        for (std::size_t i = 0; i < count; ++i) {
          if (std::isnan(values[i])) {
            ++missing_[feature];
          } else {
            ++counts[place_of(summary, values[i])];
          }
        }
        continue;
      }
      const std::uint32_t missing = count_missing(values, count);
      missing_[feature] += missing;
      // Those above the cut before, less those above the own one: a pass for each cut is faster than a search per unit.
      auto above = static_cast<std::uint32_t>(count) - missing;
      for (std::size_t bin = 0; bin < summary.cuts.size(); ++bin) {
        const std::uint32_t beyond = count_above(values, count, summary.cuts[bin]);
        counts[bin] += above - beyond;
        above = beyond;
      }
      counts.back() += above;
    }
  }
}

void FeatureCounts::add(const FeatureCounts& other) {
  num_units_ += other.num_units_;
  for (std::size_t feature = 0; feature < counts_.size(); ++feature) {
    missing_[feature] += other.missing_[feature];
    for (std::size_t bin = 0; bin < counts_[feature].size(); ++bin) {
      counts_[feature][bin] += other.counts_[feature][bin];
    }
  }
}

std::vector<FeatureDrift> feature_drift(const std::vector<data::FeatureColumn>& columns,
                                        const std::vector<FeatureSummary>& summaries, const FeatureCounts& now) {
  std::vector<FeatureDrift> drift;
  for (std::size_t feature = 0; feature < summaries.size(); ++feature) {
    const FeatureSummary& then = summaries[feature];
    const std::uint64_t values_then = sum_of(then.counts);
    const std::uint64_t values_now = sum_of(now.counts(feature));
    FeatureDrift found{columns[feature].name,
                       stability_figure(then.counts, now.counts(feature)),
                       share_figure(then.missing, then.missing + values_then, now.missing(feature), now.num_units()),
                       {}};
    if (columns[feature].categorical)
      found.unknown = share_figure(then.counts[0], values_then, now.counts(feature)[0], values_now);
    drift.push_back(std::move(found));
  }
  return drift;
}

std::string drift_warning(const std::vector<FeatureDrift>& drift) {
  constexpr std::size_t kNamed = 3;
  // How many times beyond its limit the worst figure is.
  const auto excess = [](const FeatureDrift& one) {
    double most = 0.0;
    for (const DriftFigure& figure : {one.stability, one.missing, one.unknown}) {
      if (figure.drifts()) most = std::max(most, std::abs(figure.now - figure.training) / figure.limit);
    }
    return most;
  };
  std::vector<const FeatureDrift*> drifting;
  for (const FeatureDrift& one : drift) {
    if (one.drifts()) drifting.push_back(&one);
  }
  if (drifting.empty()) return "";
  std::stable_sort(drifting.begin(), drifting.end(),
                   [&](const FeatureDrift* a, const FeatureDrift* b) { return excess(*a) > excess(*b); });
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, drifting.size()); ++i) {
    const FeatureDrift& one = *drifting[i];
    std::string why = fmt::format("stability index {:.2f}", one.stability.now);
    if (one.missing.drifts()) {
      why = fmt::format("missing {:.0f} % instead of {:.0f} %", 100.0 * one.missing.now, 100.0 * one.missing.training);
    } else if (one.unknown.drifts()) {
      why = fmt::format("rare or unseen levels {:.0f} % instead of {:.0f} %", 100.0 * one.unknown.now,
                        100.0 * one.unknown.training);
    }
    names += fmt::format("{}{} ({})", i == 0 ? "" : ", ", core::printable(one.feature), why);
  }
  return fmt::format("{} of {} features differ from those of the training units: {}{}", drifting.size(), drift.size(),
                     names, drifting.size() > kNamed ? ", ..." : "");
}

}  // namespace dfcl::model
