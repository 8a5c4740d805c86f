// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/calibration.h"

#include <algorithm>
#include <cmath>

namespace dfcl::learn {
namespace {

bool is_sound(const Calibration::Outcome& outcome, std::size_t num_arms, std::size_t control) {
  constexpr double kMostLogShift = 50.0;  // of a logarithm or a logit
  const bool is_bounded = outcome.form.kind == loss::OutcomeKind::real ||
                          std::all_of(outcome.shift.begin(), outcome.shift.end(),
                                      [](double shift) { return std::abs(shift) <= kMostLogShift; });
  return is_bounded && is_per_arm(outcome.shift, num_arms) && is_per_arm(outcome.center, num_arms) &&
         outcome.shift.size() == outcome.center.size() && outcome.slope >= 0.0 && outcome.slope <= kMostSlope &&
         is_per_arm(outcome.size, num_arms) && std::abs(outcome.base_slope) <= kMostSlope &&
         (outcome.base_slope == 0.0 || (outcome.size.size() == num_arms && outcome.size[control] == 0.0)) &&
         outcome.plan_factor >= 1.0 / kMostPlanFactor && outcome.plan_factor <= kMostPlanFactor &&
         std::isfinite(outcome.found_slope) && std::isfinite(outcome.slope_error) && outcome.slope_error >= 0.0;
}

// deviations: of a row's revenue in control, for rows in turn.
void calibrate(const Calibration::Outcome& outcome, std::size_t control, core::MatrixView<float> out,
               auto&& deviations) {
  if (outcome.is_known()) return;
  const bool moves_effects = outcome.slope != 1.0 || outcome.base_slope != 0.0 || outcome.plan_factor != 1.0;
  for (std::size_t row = 0; row < out.rows; ++row) {
    const double base = shifted(outcome.form, static_cast<double>(out(row, control)), outcome.shift[control]);
    out(row, control) = static_cast<float>(outcome.form.bounded(base));
    const double by_base = outcome.base_slope == 0.0 ? 0.0 : outcome.base_slope * deviations(row);
    for (std::size_t arm = 0; arm < out.cols; ++arm) {
      if (arm == control) continue;
      double value = shifted(outcome.form, static_cast<double>(out(row, arm)), outcome.shift[arm]);
      if (moves_effects) {
        const double effect = (1.0 - outcome.slope) * outcome.center[arm] + outcome.slope * (value - base) +
                              (by_base == 0.0 ? 0.0 : by_base * outcome.size[arm]);
        value = base + outcome.plan_factor * effect;
      }
      out(row, arm) = static_cast<float>(outcome.form.bounded(value));
    }
  }
}

void stretch(const Calibration::Outcome& outcome, core::MatrixView<float> errors) {
  if (outcome.is_known()) return;
  // A slope of 0 is not known better than its standard error.
  const double slope = std::max(outcome.slope, std::min(1.0, outcome.slope_error));
  for (std::size_t row = 0; row < errors.rows; ++row) {
    for (std::size_t arm = 0; arm < errors.cols; ++arm) {
      const double factor = outcome.form.kind == loss::OutcomeKind::non_negative ? std::exp(outcome.shift[arm]) : 1.0;
      errors(row, arm) =
          static_cast<float>(outcome.plan_factor * slope * factor * static_cast<double>(errors(row, arm)));
    }
  }
}

}  // namespace

bool is_sound(const Calibration& calibration, std::size_t num_arms, std::size_t control) {
  return is_sound(calibration.revenue, num_arms, control) && is_sound(calibration.cost, num_arms, control) &&
         std::isfinite(calibration.base_mean) && std::isfinite(calibration.base_spread) &&
         calibration.base_spread >= 0.0 &&
         (calibration.base_spread > 0.0 ||
          (calibration.revenue.base_slope == 0.0 && calibration.cost.base_slope == 0.0));
}

double shifted(const OutcomeForm& form, double value, double shift) {
  if (shift == 0.0) return value;
  switch (form.kind) {
    case loss::OutcomeKind::real: return value + shift;
    case loss::OutcomeKind::non_negative: return value * std::exp(shift);
    case loss::OutcomeKind::binary: {
      const double odds = std::exp(shift);
      return value * odds / (1.0 - value + value * odds);
    }
  }
  return value;
}

double Calibration::deviations(double base) const {
  return base_spread > 0.0 ? std::clamp((base - base_mean) / base_spread, -kMostDeviations, kMostDeviations) : 0.0;
}

void calibrate(const Calibration& calibration, std::size_t control, Outcomes out) {
  // Control's revenue is calibrated before the other arms of its row, and those before any cost.
  const auto deviations = [&](std::size_t row) {
    return calibration.deviations(static_cast<double>(out.revenue(row, control)));
  };
  calibrate(calibration.revenue, control, out.revenue, deviations);
  calibrate(calibration.cost, control, out.cost, deviations);
}

void calibrate_errors(const Calibration& calibration, Outcomes errors) {
  stretch(calibration.revenue, errors.revenue);
  stretch(calibration.cost, errors.cost);
}

}  // namespace dfcl::learn
