// SPDX-License-Identifier: Apache-2.0
//
// Units of a table on the card: their lookups and outcomes. Memory: units x (8 x columns + 4 x (4 + nuisance)) bytes on
// the card; on the host that of 65,536 units.
#pragma once

#include <cstdint>
#include <span>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/nn/cuda/card_memory.h"
#include "dfcl/nn/cuda/engine.h"
#include "dfcl/nn/cuda/table_plan.h"

namespace dfcl::nn::cuda {

struct CardUnits {
  CardArray<Lookup> lookups;  // units x columns
  CardArray<float> records;   // units x TablePlan::record_floats
  std::uint32_t count = 0;
};

// Of these rows, in their order.
CardUnits load_units(const TableEncoding& encoding, const TablePlan& plan, bool nuisance,
                     core::MatrixView<const float> features, const TrainingRows& data,
                     std::span<const std::uint32_t> rows, core::RunContext& context);

}  // namespace dfcl::nn::cuda
