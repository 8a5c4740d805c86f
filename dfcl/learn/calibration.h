// SPDX-License-Identifier: Apache-2.0
//
// What brings the predictions of a finished model to what units that it was not fitted on say (docs/method.md,
// "Calibration"): for each outcome a shift per arm on the scale of its link (a factor where outcomes are not negative,
// a shift of the logit for 0/1, an amount for any number), a slope for how far effects differ between units, a second
// one for how effects go with the unit's revenue in control, and, of cost, a factor for units that plans choose. Fitted
// by train/calibrate.h, kept in the model, applied once, before known costs. A few operations per number.
#pragma once

#include <cstddef>
#include <vector>

#include "dfcl/learn/mean_effect.h"

namespace dfcl::learn {

inline constexpr double kLeastSlope = 0.1;  // at 0 all units would be alike, and nothing would rank them
inline constexpr double kMostSlope = 3.0;
inline constexpr double kMostPlanFactor = 1.5;

struct Calibration {
  struct Outcome {
    OutcomeForm form;
    std::vector<double> shift;  // per arm, on the scale of the link; empty: the outcome is known and left alone
    // A unit's effect e of arm j becomes plan_factor x (center_j + slope (e - center_j) + base_slope size_j z), z the
    // unit's standardised revenue in control; but for plan_factor the mean over the units stays.
    std::vector<double> center;  // per arm: the mean effect over control after the shift, over the units used
    double slope = 1.0;          // within [kLeastSlope, kMostSlope]
    // As it was found, before it was shrunk or cut. Error 0: the predicted effects do not differ between units.
    double found_slope = 1.0;
    double slope_error = 0.0;
    std::vector<double> size = {};  // per arm: root of the mean squared effect; empty: base_slope is 0
    double base_slope = 0.0;        // at most kMostSlope in size
    double plan_factor = 1.0;       // within [1 / kMostPlanFactor, kMostPlanFactor]

    bool is_known() const { return shift.empty(); }
    // The predicted differences between units' effects are within 1.96 standard errors of none.
    bool is_unsupported() const { return slope_error > 0.0 && found_slope < 1.96 * slope_error; }
    bool operator==(const Outcome&) const = default;
  };
  std::size_t num_units = 0;  // it was fitted on, none of which its predictions had seen
  Outcome revenue;
  Outcome cost;
  // Of the units used, after the shift: predicted revenue in control. A spread of 0 stands for no slope by it.
  double base_mean = 0.0;
  double base_spread = 0.0;

  // Standardised, and kept within kMostDeviations, beyond which a line is no longer to be believed.
  static constexpr double kMostDeviations = 3.0;
  double deviations(double base) const;
  bool operator==(const Calibration&) const = default;
};

// Whether it is one that training may have made. For files.
bool is_sound(const Calibration& calibration, std::size_t num_arms, std::size_t control);

// On the scale of the link. Exactly the same number where the shift is 0.
double shifted(const OutcomeForm& form, double value, double shift);

void calibrate(const Calibration& calibration, std::size_t control, Outcomes out);
// Of standard errors of effects: the slope, and the factor of an arm, stretch them.
void calibrate_errors(const Calibration& calibration, Outcomes errors);

}  // namespace dfcl::learn
