// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/calibration.h"

#include <cmath>

namespace dfcl::learn {
namespace {

void calibrate(const Calibration::Outcome& outcome, std::size_t control, core::MatrixView<float> out) {
  if (outcome.is_known()) return;
  for (std::size_t row = 0; row < out.rows; ++row) {
    const double base = shifted(outcome.form, static_cast<double>(out(row, control)), outcome.shift[control]);
    for (std::size_t arm = 0; arm < out.cols; ++arm) {
      double value = shifted(outcome.form, static_cast<double>(out(row, arm)), outcome.shift[arm]);
      if (arm != control && outcome.slope != 1.0)
        value = base + (1.0 - outcome.slope) * outcome.center[arm] + outcome.slope * (value - base);
      out(row, arm) = static_cast<float>(outcome.form.bounded(value));
    }
  }
}

void stretch(const Calibration::Outcome& outcome, core::MatrixView<float> errors) {
  if (outcome.is_known()) return;
  for (std::size_t row = 0; row < errors.rows; ++row) {
    for (std::size_t arm = 0; arm < errors.cols; ++arm) {
      const double factor = outcome.form.kind == loss::OutcomeKind::non_negative ? std::exp(outcome.shift[arm]) : 1.0;
      errors(row, arm) = static_cast<float>(outcome.slope * factor * static_cast<double>(errors(row, arm)));
    }
  }
}

}  // namespace

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

void calibrate(const Calibration& calibration, std::size_t control, Outcomes out) {
  calibrate(calibration.revenue, control, out.revenue);
  calibrate(calibration.cost, control, out.cost);
}

void calibrate_errors(const Calibration& calibration, Outcomes errors) {
  stretch(calibration.revenue, errors.revenue);
  stretch(calibration.cost, errors.cost);
}

}  // namespace dfcl::learn
