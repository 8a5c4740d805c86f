// SPDX-License-Identifier: Apache-2.0
//
// The optimiser of the runs in reference.py.
#pragma once

#include "dfcl/nn/adam.h"

namespace dfcl::nn::reference {

inline const AdamOptions kAdam{.rate = 0.02,
                               .beta1 = 0.9,
                               .beta2 = 0.99,
                               .epsilon = 1e-8,
                               .weight_decay = 0.05,
                               .clip_norm = 0.5,
                               .warmup_steps = 5,
                               .total_steps = 60,
                               .final_share = 0.1};

}  // namespace dfcl::nn::reference
