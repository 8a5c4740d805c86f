// SPDX-License-Identifier: Apache-2.0
//
// Where the multipliers of a coupled problem of many units lie, as far as a sample says: a middle and widths, several
// standard errors each. What it costs to be wrong is one more pass, with the box moved or widened.
#pragma once

#include <optional>
#include <vector>

#include "dfcl/allocate/coupled_model.h"
#include "dfcl/allocate/dual.h"
#include "dfcl/core/run_context.h"

namespace dfcl::allocate {

struct MultiplierBox {
  std::vector<double> middle;  // per limit
  std::vector<double> width;   // on both sides
  double softness = 0.0;       // with which the search inside the box begins

  DualOptions dual_options() const;
  // If some multiplier was found at its end of the box: moves the box there, twice as wide in that direction.
  bool recentre(const std::vector<double>& found);
  void widen();
};

// Measures the model's scales on the sample. None where there are too few units for a sample. Sets infeasible where the
// sample found a proof that holds for all units.
std::optional<MultiplierBox> box_on_sample(CoupledModel& whole, bool& infeasible, core::RunContext& context);

}  // namespace dfcl::allocate
