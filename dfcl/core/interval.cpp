// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/interval.h"

#include <algorithm>

#include "dfcl/core/distributions.h"

namespace dfcl::core {

double normal_critical(double level) { return normal_quantile(0.5 + level / 2.0); }

double t_critical(double degrees_of_freedom, double level) {
  return student_t_quantile(0.5 + 0.5 * level, std::max(1.0, degrees_of_freedom));
}

Interval normal_interval(double value, double standard_error, double level) {
  const double reach = normal_critical(level) * standard_error;
  return {value, value - reach, value + reach};
}

Interval t_interval(double value, double standard_error, double degrees_of_freedom, double level) {
  const double reach = t_critical(degrees_of_freedom, level) * standard_error;
  return {value, value - reach, value + reach};
}

Interval fieller_interval(const Quotient& quotient, double critical) {
  const double value = quotient.numerator / quotient.denominator;
  const double squared = critical * critical;
  const double a = quotient.denominator * quotient.denominator - squared * quotient.denominator_variance;
  const double b = quotient.numerator * quotient.denominator - squared * quotient.covariance;
  const double c = quotient.numerator * quotient.numerator - squared * quotient.numerator_variance;
  const double root = b * b - a * c;
  if (!(a > 0.0) || !(root >= 0.0)) return {std::isfinite(value) ? value : Interval::kNone};
  return {value, (b - std::sqrt(root)) / a, (b + std::sqrt(root)) / a};
}

}  // namespace dfcl::core
