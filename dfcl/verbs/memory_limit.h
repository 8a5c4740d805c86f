// SPDX-License-Identifier: Apache-2.0
//
// A limit on memory: what a caller says ("2GB"), and which way a run takes to stay within it, decided before the work.
// What counts is memory that the system cannot take back (anonymous memory): pages of mapped files do not. Internal to
// verbs.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "dfcl/core/run_context.h"

namespace dfcl::verbs {

// Bytes of "500MB", "2GB" (powers of 1000), "1.5GiB" (of 1024) or "800000000". Throws Error of kind usage that names
// the field memory.
double parse_memory(std::string_view text);

// What a run on so many threads takes at most, in bytes (memory_needs.h).
using MemoryNeed = std::function<double(int threads)>;

// How a run works, and how it could work with less.
struct MemoryWays {
  MemoryNeed plain;
  MemoryNeed saving = {};         // empty: there is no such way
  std::string saving_words = {};  // what the run then does: "streams the predictions"
  std::string help = {};          // for a refusal: what would make the run smaller
};

// Whether the run takes the saving way: where the plain way on all threads would not fit. Then only as many threads are
// kept as fit; where the saving way fits on none, the plain way does on fewer threads. One line says so. Throws Error
// of kind usage where nothing fits.
bool keep_within(const std::string& limit, const MemoryWays& ways, core::RunContext& context);

}  // namespace dfcl::verbs
