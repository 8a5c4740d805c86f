// SPDX-License-Identifier: Apache-2.0
//
// The budget solver for predictions larger than memory: the source is read a few times (three, more only where very
// many increments are nearly equal), each pass leaves a summary of spend and revenue by stretch of the path, and the
// plan is handed out batch by batch. The plan and the summary are those of allocate(), byte for byte. Memory: one
// batch and at most 250 MB, whatever the number of units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dfcl/allocate/allocate.h"
#include "dfcl/data/batch.h"

namespace dfcl::allocate {

// A batch of the source with the arms of its units.
struct PlannedBatch {
  const data::Batch& batch;
  std::size_t first_unit = 0;
  std::span<const std::uint8_t> arm;
  std::span<const float> revenue;  // of the arm
  std::span<const float> cost;
  double multiplier = 0.0;  // of the solution
};
using PlanSink = std::function<void(const PlannedBatch&)>;

// The source must have the columns revenue_<arm> and cost_<arm> for every arm, and may have eligible_<arm> (0: no).
// Numbers may be of any type and are read as float32. The sink is called only if there is a plan; the returned
// Solution holds no arms. Throws as allocate() does.
Solution allocate_stream(data::BatchSource& source, const std::vector<std::string>& arms, const Rules& rules,
                         double budget_total, const PlanSink& sink, core::RunContext& context);

// apply_multiplier() for a stream.
Solution apply_multiplier_stream(data::BatchSource& source, const std::vector<std::string>& arms, const Rules& rules,
                                 double multiplier, const PlanSink& sink, core::RunContext& context);

}  // namespace dfcl::allocate
