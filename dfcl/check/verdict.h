// SPDX-License-Identifier: Apache-2.0
//
// From figures to words: what makes a trial unfit, what is worth a warning.
#pragma once

#include <cstddef>
#include <string>

#include "dfcl/check/check.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"

namespace dfcl::check {

// What only the counts over time know.
struct TimeFindings {
  double share_drift_p = 1.0;
};

// What single rows say.
struct RowFacts {
  std::size_t negative_costs = 0;
  std::size_t control_costs = 0;  // units of control that cost something
  bool any_cost = false;
  float smallest_propensity = 1.0f;

  void add(const data::Trial& trial, std::size_t row);
  void merge(const RowFacts& other);
};

// Fills fit, problems and warnings of a result that has all its figures.
void judge(const data::Trial& trial, const data::Study& study, const CheckOptions& options, const TimeFindings& times,
           const RowFacts& facts, CheckResult& result);

// "p = 0.032", "p < 0.0001"
std::string p_text(double p);

}  // namespace dfcl::check
