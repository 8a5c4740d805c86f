// SPDX-License-Identifier: Apache-2.0
//
// A simulated trial, or its truth, as the stream of batches that everything else reads. Memory: one batch.
#pragma once

#include <cstddef>
#include <memory>

#include "dfcl/data/batch.h"
#include "dfcl/simulate/simulator.h"

namespace dfcl::simulate {

inline constexpr std::size_t kBatchRows = 65'536;

// The simulator must outlive the source.
std::unique_ptr<data::BatchSource> trial_source(const Simulator& simulator, std::size_t batch_rows = kBatchRows);
std::unique_ptr<data::BatchSource> truth_source(const Simulator& simulator, std::size_t batch_rows = kBatchRows);

}  // namespace dfcl::simulate
