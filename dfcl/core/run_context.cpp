// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/run_context.h"

#include "dfcl/core/error.h"

namespace dfcl::core {

void RunContext::check_cancelled() const {
  if (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) {
    throw Error({.kind = ErrorKind::interrupted, .what = "interrupted"});
  }
}

}  // namespace dfcl::core
