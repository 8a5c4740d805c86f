// SPDX-License-Identifier: Apache-2.0
//
// The few distribution functions that tests and intervals need. Each call costs about a microsecond.
#pragma once

namespace dfcl::core {

double normal_cdf(double z);
double normal_quantile(double probability);
// Two-sided p-value of a standard normal statistic.
double normal_two_sided(double z);
double student_t_quantile(double probability, double degrees_of_freedom);
// Upper tails: the probability of a value at least this large.
double chi_square_upper(double statistic, double degrees_of_freedom);
double f_upper(double statistic, double numerator_degrees, double denominator_degrees);

}  // namespace dfcl::core
