// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/cuda/card.h"

#include "dfcl/core/error.h"
#include "dfcl/core/field.h"

namespace dfcl::nn::cuda {

#ifdef DFCL_WITH_CUDA
bool has_support() { return true; }
#else
bool has_support() { return false; }
CardAnswer find_card() { return {"", "this build has no support for graphics cards (-DDFCL_CUDA=ON)"}; }
#endif

void require_card() {
  const CardAnswer answer = find_card();
  if (!answer.name.empty()) return;
  throw core::Error({.kind = core::ErrorKind::unavailable,
                     .what = answer.reason,
                     .hint = core::field_name("device", "cpu") + " trains on the processor"});
}

}  // namespace dfcl::nn::cuda
