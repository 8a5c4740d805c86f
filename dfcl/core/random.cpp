// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/random.h"

#include <cmath>
#include <numbers>

namespace dfcl::core {

// Box and Muller, one of the pair: streams stay stateless between calls.
double RandomStream::normal() {
  const double radius = std::sqrt(2.0 * exponential());
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

double RandomStream::exponential() { return -std::log1p(-uniform()); }

double RandomStream::gamma(double shape) {
  if (shape < 1.0) {
    const double boost = std::pow(1.0 - uniform(), 1.0 / shape);
    return boost * gamma(shape + 1.0);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal();
    const double v = std::pow(1.0 + c * x, 3);
    if (v <= 0.0) continue;
    if (std::log1p(-uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

std::int64_t RandomStream::poisson(double mean) {
  if (!(mean > 0.0)) return 0;
  if (mean < 30.0) {
    const double limit = std::exp(-mean);
    double product = 1.0 - uniform();
    std::int64_t count = 0;
    while (product > limit) {
      product *= 1.0 - uniform();
      ++count;
    }
    return count;
  }
  // Hoermann (1993), algorithm PTRS.
  const double slope = std::sqrt(mean);
  const double b = 0.931 + 2.53 * slope;
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2.0);
  for (;;) {
    const double u = uniform() - 0.5;
    const double v = 1.0 - uniform();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2.0 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= v_r) return static_cast<std::int64_t>(k);
    if (k < 0.0 || (us < 0.013 && v > us)) continue;
    const double accept = std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b);
    int sign = 0;  // std::lgamma would write it to a global variable
    if (accept <= k * std::log(mean) - mean - ::lgamma_r(k + 1.0, &sign)) return static_cast<std::int64_t>(k);
  }
}

}  // namespace dfcl::core
