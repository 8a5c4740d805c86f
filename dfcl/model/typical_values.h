// SPDX-License-Identifier: Apache-2.0
//
// Typical values of features, drawn from the summaries that a model keeps: no unit's own row leaves the trial in a
// model. Each feature's values are spread evenly over its distribution (a Latin hypercube), and features are drawn
// independently of each other. Internal to model.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dfcl/core/matrix.h"
#include "dfcl/model/model.h"

namespace dfcl::model {

// The value below which the share `quantile` of the training units lies, or one near it; NaN where it is missing there.
float typical_value(const FeatureSummary& summary, bool categorical, double quantile);

// rows x features. draw: another number, other rows. The model must keep summaries.
core::Matrix<float> typical_rows(const Model& model, std::size_t num_rows, std::uint64_t draw);

}  // namespace dfcl::model
