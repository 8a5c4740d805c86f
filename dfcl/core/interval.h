// SPDX-License-Identifier: Apache-2.0
//
// An estimate with its interval, and the few ways to make one that every room needs: from a standard error (normal or
// Student's t) and, for the quotient of two estimates, Fieller's. No memory; about a microsecond each.
#pragma once

#include <cmath>
#include <limits>

namespace dfcl::core {

// low and high are NaN where no interval can be claimed.
struct Interval {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  Interval() = default;
  Interval(double v, double l = kNone, double h = kNone) : value(v), low(l), high(h) {}

  bool has_ends() const { return std::isfinite(low) && std::isfinite(high); }
  Interval scaled(double factor) const { return {value * factor, low * factor, high * factor}; }  // factor > 0
  Interval plus(double shift) const { return {value + shift, low + shift, high + shift}; }
  Interval negated() const { return {-value, -high, -low}; }

  double value = kNone;
  double low = kNone;
  double high = kNone;
};

// value -+ the two-sided quantile for the level (0.95) x standard_error.
Interval normal_interval(double value, double standard_error, double level);
Interval t_interval(double value, double standard_error, double degrees_of_freedom, double level);

// The two-sided quantiles themselves: 1.96 for 0.95.
double normal_critical(double level);
double t_critical(double degrees_of_freedom, double level);

struct Quotient {
  double numerator = 0.0;
  double denominator = 0.0;
  double numerator_variance = 0.0;
  double denominator_variance = 0.0;
  double covariance = 0.0;
};
// Fieller: all q for which numerator - q x denominator is within `critical` standard errors of zero. No ends where the
// denominator cannot be distinguished from zero.
Interval fieller_interval(const Quotient& quotient, double critical);

}  // namespace dfcl::core
