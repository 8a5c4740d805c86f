// SPDX-License-Identifier: Apache-2.0
//
// Intervals that whole experiments need: means of groups, their differences, differences adjusted by a covariate that
// was known beforehand, and ratios. One pass over the units each; no memory.
#pragma once

#include "dfcl/core/interval.h"

namespace dfcl::launch {

using core::Interval;

// The sums of a group of units from which all else follows: outcomes r and c, covariate x. Means first, then centred
// products, so that nothing cancels.
struct Moments {
  double count = 0.0;
  double mean_r = 0.0, mean_c = 0.0, mean_x = 0.0;
  double rr = 0.0, cc = 0.0, rc = 0.0;  // sums of centred products
  double xx = 0.0, xr = 0.0, xc = 0.0;

  void add(double r, double c, double x);
  // Of units with sample weights, in two passes: what their weighted means are, then every unit. Products are weighted
  // by the square of weights of mean 1, so that all that follows is right for weighted means.
  void set_means(double units, double r, double c, double x);
  void add_centred(double weight, double r, double c, double x);
  void merge(const Moments& other);
};

Interval mean_of_c(const Moments& group, double level);

// Treated minus control, with a regression on x in each group (x constant: the plain difference). Valid whatever the
// true relation is, because the groups were drawn at random: x only removes variance.
struct Difference {
  Interval revenue;
  Interval cost;
  Interval return_per_cost;     // revenue / cost, by Fieller; no interval where cost is not away from zero, and nothing
                                // where no more is spent than in control
  Interval profit;              // worth x revenue - cost; of meaning where the worth of revenue is known
  double variance_removed = 0;  // share of the variance of the revenue difference that x removed
};
// worth: of one unit of revenue, in the currency of cost.
Difference adjusted_difference(const Moments& treated, const Moments& control, const Moments& all, double level,
                               double worth = 1.0);

}  // namespace dfcl::launch
