// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/run_context.h"

#include <string>

#include "dfcl/core/error_makers.h"

namespace dfcl::core {

int checked_threads(std::int64_t threads) {
  constexpr std::int64_t kMostThreads = 1024;
  if (threads < 0 || threads > kMostThreads)
    throw field_error("threads", "out of range", std::to_string(threads), "0 to " + std::to_string(kMostThreads));
  return static_cast<int>(threads);
}

std::uint64_t checked_seed(std::int64_t seed) {
  if (seed < 0) throw field_error("seed", "out of range", std::to_string(seed), "0 or more");
  return static_cast<std::uint64_t>(seed);
}

void RunContext::check_cancelled() const {
  if (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) {
    throw Error({.kind = ErrorKind::interrupted, .what = "interrupted"});
  }
}

}  // namespace dfcl::core
