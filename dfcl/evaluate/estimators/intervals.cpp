// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/estimators/intervals.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dfcl/core/distributions.h"

namespace dfcl::evaluate {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeastDefined = 0.9;  // share of resamples in which a figure must be defined

std::vector<double> finite_sorted(std::span<const double> values) {
  std::vector<double> kept;
  for (const double value : values) {
    if (std::isfinite(value)) kept.push_back(value);
  }
  std::sort(kept.begin(), kept.end());
  if (static_cast<double>(kept.size()) < kLeastDefined * static_cast<double>(values.size())) kept.clear();
  return kept;
}

// By linear interpolation between the values in order.
double quantile(const std::vector<double>& sorted, double probability) {
  const double place = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

double covariance(std::span<const double> a, std::span<const double> b, SeriesKind kind) {
  const std::size_t size = a.size();
  if (size < 2) return kNan;
  double mean_a = 0.0;
  double mean_b = 0.0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
    mean_a += a[i];
    mean_b += b[i];
    ++count;
  }
  const auto defined = static_cast<double>(count);
  if (count < 2 || defined < kLeastDefined * static_cast<double>(size)) return kNan;
  mean_a /= defined;
  mean_b /= defined;
  if (kind == SeriesKind::influence) mean_a = mean_b = 0.0;  // centred already
  double sum = 0.0;
  for (std::size_t i = 0; i < size; ++i) {
    if (std::isfinite(a[i]) && std::isfinite(b[i])) sum += (a[i] - mean_a) * (b[i] - mean_b);
  }
  return kind == SeriesKind::influence ? sum * defined / (defined - 1.0) : sum / (defined - 1.0);
}

double standard_deviation(std::span<const double> series, SeriesKind kind) {
  const double variance = covariance(series, series, kind);
  return variance < 0.0 ? 0.0 : std::sqrt(variance);  // NaN stays
}

Series combine(double a, std::span<const double> first, double b, std::span<const double> second) {
  Series result(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) result[i] = a * first[i] + b * second[i];
  return result;
}

double two_sided_p(double value, double deviation) {
  if (deviation == 0.0) return value == 0.0 ? 1.0 : 0.0;
  return core::normal_two_sided(value / deviation);
}

Interval percentile_interval(double value, std::span<const double> resamples, double level) {
  const std::vector<double> sorted = finite_sorted(resamples);
  if (sorted.size() < 2) return Interval(value);
  return {value, quantile(sorted, 0.5 - level / 2.0), quantile(sorted, 0.5 + level / 2.0)};
}

double percentile_p(std::span<const double> resamples) {
  const std::vector<double> sorted = finite_sorted(resamples);
  if (sorted.empty()) return kNan;
  const auto not_above = std::upper_bound(sorted.begin(), sorted.end(), 0.0) - sorted.begin();
  const auto not_below = sorted.end() - std::lower_bound(sorted.begin(), sorted.end(), 0.0);
  const auto fewer = static_cast<double>(std::min(not_above, not_below));
  return std::min(1.0, 2.0 * (fewer + 1.0) / (static_cast<double>(sorted.size()) + 1.0));
}

double simultaneous_critical(std::span<const double> values, std::span<const double> deviations,
                             const std::vector<std::span<const double>>& resamples, double level) {
  std::vector<double> largest;
  for (std::size_t i = 0; !resamples.empty() && i < resamples[0].size(); ++i) {
    double most = 0.0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (!(deviations[k] > 0.0)) continue;
      const double t = std::abs(resamples[k][i] - values[k]) / deviations[k];
      most = t > most || std::isnan(t) ? t : most;
    }
    largest.push_back(most);
  }
  const std::vector<double> sorted = finite_sorted(largest);
  // Never narrower than one interval alone: few resamples must not make it so.
  return sorted.empty() ? kNan : std::max(core::normal_critical(level), quantile(sorted, level));
}

double bonferroni_critical(std::size_t num_figures, double level) {
  return core::normal_quantile(1.0 -
                               (1.0 - level) / (2.0 * static_cast<double>(std::max<std::size_t>(1, num_figures))));
}

}  // namespace dfcl::evaluate
