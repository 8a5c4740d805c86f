// SPDX-License-Identifier: Apache-2.0
//
// What this machine is and how fast, so that slow training is understood: what was found, which kernels run, and rates
// measured on the spot. Time: less than a second; memory: 256 MiB while it measures.
#pragma once

#include <cstdint>
#include <string>

#include "dfcl/core/processor.h"
#include "dfcl/core/run_context.h"

namespace dfcl::train {

// Billions a second, on one thread and on all at once.
struct Rates {
  double one_thread = 0.0;
  double all_threads = 0.0;
};

struct Machine {
  std::string processor;  // as the system names it; empty where it does not
  core::Processor kernels = core::Processor::portable;
  int processors = 0;        // that the system has
  int threads = 0;           // that dfcl uses
  std::uint64_t memory = 0;  // bytes; 0 where the system does not say
  std::string card;          // name of the graphics card; empty where none can be used
  std::string why_no_card;   // then
  Rates products;            // floating-point operations of a training step's matrix products
  Rates reading;             // bytes read from memory
};

Machine measure_machine(core::RunContext& context);

}  // namespace dfcl::train
