// SPDX-License-Identifier: Apache-2.0
//
// From spread to intervals: percentiles of resamples, and the simultaneous critical value (eq. 18). Resamples in which
// a figure is not defined are left out; where more than a tenth are, there is no interval.
#pragma once

#include <span>
#include <vector>

#include "dfcl/core/interval.h"

namespace dfcl::evaluate {

using core::Interval;

// How the values of a figure are spread: its values in the resamples, or the centred influence of each group of rows on
// it, whose squares sum to the variance.
enum class SeriesKind { resamples, influence };
using Series = std::vector<double>;

double covariance(std::span<const double> a, std::span<const double> b, SeriesKind kind);
double standard_deviation(std::span<const double> series, SeriesKind kind);
// a x first + b x second.
Series combine(double a, std::span<const double> first, double b, std::span<const double> second);

double two_sided_p(double value, double deviation);

Interval percentile_interval(double value, std::span<const double> resamples, double level);
// Twice the share of resamples on the far side of zero.
double percentile_p(std::span<const double> resamples);

// The critical value c such that all figures lie within c deviations of their values at once, in `level` of the
// resamples: the quantile of the largest |t|. resamples[k] are those of figure k.
double simultaneous_critical(std::span<const double> values, std::span<const double> deviations,
                             const std::vector<std::span<const double>>& resamples, double level);
// Without resamples: Bonferroni's, which is wider.
double bonferroni_critical(std::size_t num_figures, double level);

}  // namespace dfcl::evaluate
