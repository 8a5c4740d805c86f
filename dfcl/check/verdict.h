// SPDX-License-Identifier: Apache-2.0
//
// From figures to words: what makes a trial unfit, what is worth a warning. Costs nothing but one look at the costs.
#pragma once

#include "dfcl/check/check.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"

namespace dfcl::check {

// What only the counts over time know.
struct TimeFindings {
  double share_drift_p = 1.0;
};

// Fills fit, problems and warnings of a result that has all its figures.
void judge(const data::Trial& trial, const data::Study& study, const CheckOptions& options, const TimeFindings& times,
           CheckResult& result);

// "p = 0.032", "p < 0.0001"
std::string p_text(double p);

}  // namespace dfcl::check
