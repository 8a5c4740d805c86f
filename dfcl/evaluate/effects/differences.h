// SPDX-License-Identifier: Apache-2.0
//
// Models against the reference, on the same rows and resamples: differences with intervals, alone and simultaneous over
// models and budgets (largest |t|, eq. 18), p-values and a sentence each. Where nobody names the reference it is the
// model with the best estimates; simultaneous intervals then hold over all pairs of models, so whichever is chosen.
// Internal to the room.
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

// The one that is named, else of the models that may be launched the one whose plans earn most over the budgets, less
// `price` (per budget) for each unit of cost; of equals the first by name.
std::size_t choose_reference(const Setting& setting, const std::vector<ModelRun>& runs,
                             const std::vector<double>& price);

// For every model but the reference, in the order of the budgets as given.
std::vector<DifferenceFigures> difference_figures(const Setting& setting, const std::vector<ModelRun>& runs,
                                                  std::size_t reference);

std::vector<AuccDifferenceFigures> aucc_differences(const Setting& setting,
                                                    const std::vector<std::vector<ArmAreas>>& areas,
                                                    std::size_t reference);

}  // namespace dfcl::evaluate
