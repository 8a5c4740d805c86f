// SPDX-License-Identifier: Apache-2.0
//
// Simulated trials and outcomes, and what their files say of their making. Memory: the tables asked for.
#pragma once

#include <memory>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/provenance.h"
#include "dfcl/data/result_batches.h"
#include "dfcl/simulate/simulator.h"

namespace dfcl::verbs {

// kind: trial, truth or outcomes.
data::Provenance simulation_provenance(const simulate::Simulator& simulator, const char* kind);

struct SimulatedTables {
  std::shared_ptr<const data::Table> trial;
  std::shared_ptr<const data::Table> truth;
};
SimulatedTables simulate_tables(const simulate::Simulator& simulator, core::RunContext& context);

}  // namespace dfcl::verbs
