// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/moments.h"

#include <algorithm>
#include <cmath>

namespace dfcl::launch {
namespace {

// What is left of two outcomes in a group once x has explained what it can, as variances of a mean.
struct Residuals {
  double slope_r = 0.0, slope_c = 0.0;
  double rr = 0.0, cc = 0.0, rc = 0.0;
  double degrees_of_freedom = 0.0;
};

Residuals fit_residuals(const Moments& group) {
  Residuals left;
  const bool has_slope = group.count > 3.0 && group.xx > 0.0;
  if (has_slope) {
    left.slope_r = group.xr / group.xx;
    left.slope_c = group.xc / group.xx;
  }
  left.degrees_of_freedom = group.count - (has_slope ? 2.0 : 1.0);
  const double per_mean = 1.0 / (left.degrees_of_freedom * group.count);
  left.rr = std::max(0.0, group.rr - left.slope_r * group.xr) * per_mean;
  left.cc = std::max(0.0, group.cc - left.slope_c * group.xc) * per_mean;
  left.rc = (group.rc - left.slope_r * group.xc) * per_mean;
  return left;
}

// Welch and Satterthwaite.
double joint_degrees(double a, double degrees_a, double b, double degrees_b) {
  const double denominator = a * a / degrees_a + b * b / degrees_b;
  return denominator > 0.0 ? (a + b) * (a + b) / denominator : degrees_a + degrees_b;
}

}  // namespace

void Moments::add(double r, double c, double x) {
  count += 1.0;
  const double dr = r - mean_r, dc = c - mean_c, dx = x - mean_x;
  mean_r += dr / count;
  mean_c += dc / count;
  mean_x += dx / count;
  const double er = r - mean_r, ec = c - mean_c, ex = x - mean_x;
  rr += dr * er;
  cc += dc * ec;
  rc += dr * ec;
  xx += dx * ex;
  xr += dx * er;
  xc += dx * ec;
}

void Moments::set_means(double units, double r, double c, double x) {
  count = units;
  mean_r = r;
  mean_c = c;
  mean_x = x;
}

void Moments::add_centred(double weight, double r, double c, double x) {
  const double dr = weight * (r - mean_r), dc = weight * (c - mean_c), dx = weight * (x - mean_x);
  rr += dr * dr;
  cc += dc * dc;
  rc += dr * dc;
  xx += dx * dx;
  xr += dx * dr;
  xc += dx * dc;
}

void Moments::merge(const Moments& other) {
  if (other.count == 0.0) return;
  const double total = count + other.count;
  const double dr = other.mean_r - mean_r, dc = other.mean_c - mean_c, dx = other.mean_x - mean_x;
  const double weight = count * other.count / total;
  rr += other.rr + weight * dr * dr;
  cc += other.cc + weight * dc * dc;
  rc += other.rc + weight * dr * dc;
  xx += other.xx + weight * dx * dx;
  xr += other.xr + weight * dx * dr;
  xc += other.xc + weight * dx * dc;
  mean_r += dr * other.count / total;
  mean_c += dc * other.count / total;
  mean_x += dx * other.count / total;
  count = total;
}

Interval mean_of_c(const Moments& group, double level) {
  if (group.count < 2.0) return {group.mean_c};
  return core::t_interval(group.mean_c, std::sqrt(group.cc / (group.count - 1.0) / group.count), group.count - 1.0,
                          level);
}

Difference adjusted_difference(const Moments& treated, const Moments& control, const Moments& all, double level,
                               double worth) {
  const Residuals t = fit_residuals(treated);
  const Residuals c = fit_residuals(control);
  const auto adjusted = [&](double mean, double slope, double mean_x) { return mean + slope * (all.mean_x - mean_x); };
  const double revenue =
      adjusted(treated.mean_r, t.slope_r, treated.mean_x) - adjusted(control.mean_r, c.slope_r, control.mean_x);
  const double cost =
      adjusted(treated.mean_c, t.slope_c, treated.mean_x) - adjusted(control.mean_c, c.slope_c, control.mean_x);
  // The mean of x over all units is itself drawn.
  const double x_variance = all.count > 1.0 ? all.xx / (all.count - 1.0) / all.count : 0.0;
  const double slope_r = t.slope_r - c.slope_r, slope_c = t.slope_c - c.slope_c;
  const double variance_r = t.rr + c.rr + slope_r * slope_r * x_variance;
  const double variance_c = t.cc + c.cc + slope_c * slope_c * x_variance;
  const double covariance = t.rc + c.rc + slope_r * slope_c * x_variance;
  const double degrees_r = joint_degrees(t.rr, t.degrees_of_freedom, c.rr, c.degrees_of_freedom);
  const double degrees_c = joint_degrees(t.cc, t.degrees_of_freedom, c.cc, c.degrees_of_freedom);
  Difference difference;
  difference.revenue = core::t_interval(revenue, std::sqrt(variance_r), degrees_r, level);
  difference.cost = core::t_interval(cost, std::sqrt(variance_c), degrees_c, level);
  // Of two negatives a quotient says nothing.
  if (cost > 0.0)
    difference.return_per_cost =
        core::fieller_interval({revenue, cost, variance_r, variance_c, covariance}, core::t_critical(degrees_r, level));
  const double variance = worth * worth * variance_r + variance_c - 2.0 * worth * covariance;
  difference.profit = core::t_interval(worth * revenue - cost, std::sqrt(std::max(0.0, variance)),
                                       std::min(degrees_r, degrees_c), level);
  const double plain =
      treated.rr / (treated.count - 1.0) / treated.count + control.rr / (control.count - 1.0) / control.count;
  difference.variance_removed = plain > 0.0 ? std::max(0.0, 1.0 - variance_r / plain) : 0.0;
  return difference;
}

}  // namespace dfcl::launch
