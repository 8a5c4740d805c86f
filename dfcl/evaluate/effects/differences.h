// SPDX-License-Identifier: Apache-2.0
//
// Models against the reference, on the same rows and resamples: differences with intervals, alone and simultaneous over
// all models and budgets (largest |t|, eq. 18), p-values and a sentence each. Internal to the room.
#pragma once

#include <vector>

#include "dfcl/evaluate/areas/areas.h"
#include "dfcl/evaluate/curves/model_run.h"

namespace dfcl::evaluate {

// Which models a simultaneous statement is about. Alternatives (settings that are tried) do not widen what is said of
// the models that may be launched; what is said of an alternative counts all.
enum class Family { launchable, all };
bool counts_in(const Setting& setting, std::size_t model, Family family);

// The critical value for figures that are said at once: the largest |t| over the shared resamples; Bonferroni with
// analytic intervals. Figures without a deviation do not count.
double critical_of(const Setting& setting, const std::vector<double>& values, const std::vector<double>& deviations,
                   const std::vector<std::span<const double>>& resamples);

// For every model but the first, in the order of the budgets as given.
std::vector<DifferenceFigures> difference_figures(const Setting& setting, const std::vector<ModelRun>& runs);

std::vector<AuccDifferenceFigures> aucc_differences(const Setting& setting,
                                                    const std::vector<std::vector<ArmAreas>>& areas);

}  // namespace dfcl::evaluate
