// SPDX-License-Identifier: Apache-2.0
//
// How well predictions foretell the outcomes that were seen (eq. 19), and whether they can be taken at their word:
// squared error, log-loss for 0/1 outcomes, and predicted against observed means by tenths of the prediction. Only for
// predictions of outcomes; an index of efficiencies foretells nothing. One pass and one sort.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/evaluate/estimators/intervals.h"
#include "dfcl/evaluate/estimators/trial_rows.h"

namespace dfcl::evaluate {

struct OutcomeFit {
  double mse = 0.0;
  std::optional<double> log_loss;  // where every outcome is 0 or 1
};

struct CalibrationGroup {
  double predicted = 0.0;  // mean
  Interval observed;       // mean, with a normal interval (by cluster where there are clusters)
  std::size_t num_units = 0;
};

// The prediction for the arm each row received.
std::vector<double> factual(core::MatrixView<const float> prediction, const TrialRows& rows);

// sample: sample weights of the rows; empty: all alike.
OutcomeFit outcome_fit(std::span<const double> predicted, std::span<const float> observed, core::RunContext& context,
                       std::span<const double> sample = {});

inline constexpr std::size_t kCalibrationGroups = 10;
std::vector<CalibrationGroup> calibration(std::span<const double> predicted, std::span<const float> observed,
                                          const TrialRows& rows, double level, core::RunContext& context);

}  // namespace dfcl::evaluate
