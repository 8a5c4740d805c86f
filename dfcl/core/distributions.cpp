// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/distributions.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace dfcl::core {

namespace bm = boost::math;

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }
double normal_quantile(double probability) { return bm::quantile(bm::normal(), probability); }
double normal_two_sided(double z) { return std::erfc(std::fabs(z) / std::sqrt(2.0)); }

double student_t_quantile(double probability, double degrees_of_freedom) {
  return bm::quantile(bm::students_t(degrees_of_freedom), probability);
}

double chi_square_upper(double statistic, double degrees_of_freedom) {
  return bm::cdf(bm::complement(bm::chi_squared(degrees_of_freedom), std::max(0.0, statistic)));
}

double f_upper(double statistic, double numerator_degrees, double denominator_degrees) {
  return bm::cdf(bm::complement(bm::fisher_f(numerator_degrees, denominator_degrees), std::max(0.0, statistic)));
}

}  // namespace dfcl::core
