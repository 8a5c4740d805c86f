// SPDX-License-Identifier: Apache-2.0
//
// What predictors of networks share, whatever their network: the checks of parts that may come from a file, and the way
// from the outputs of members to predictions. Facts, scales and form of the outcomes travel as learn::Origin.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/learn/predictor.h"
#include "dfcl/nn/inputs/preprocessing.h"

namespace dfcl::nn {

// Each check throws Error of kind file, which says what does not fit.
class PartsCheck {
 public:
  // Both must outlive it. where: the model, for messages.
  PartsCheck(const learn::Schema& schema, const std::string& where) : schema_(schema), where_(where) {}

  void require(bool good, const char* what) const;
  void require_arms(const learn::Origin& outcomes) const;
  void require_features(const Preprocessing& preprocessing) const;
  // Networks of this many parameters each, all of them finite. none: what to say where there is no network.
  void require_parameters(const std::vector<std::vector<float>>& networks, double num_parameters,
                          const char* none) const;
  void require_scales(const learn::Origin& outcomes) const;

 private:
  const learn::Schema& schema_;
  const std::string& where_;
};

// Adds scaled predictions to sums over members, each units x arms. scores (of revenue, or of efficiencies, which become
// efficiencies here and enter as the index they make) and costs hold num_rows rows, units of one member after the
// other: row i is of unit i % num_units.
void add_predictions(loss::RevenueForm form, double efficiency_cost_scale, core::MatrixView<float> scores,
                     core::MatrixView<const float> costs, std::size_t num_rows, std::size_t num_units, double* revenue,
                     double* cost);

// From sums over `count` members to predictions on the scales given: center + scale x mean.
void set_means(const learn::Scales& scales, double count, const double* revenue, const double* cost,
               learn::Outcomes out);

}  // namespace dfcl::nn
