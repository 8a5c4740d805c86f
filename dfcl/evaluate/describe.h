// SPDX-License-Identifier: Apache-2.0
//
// What an evaluation says of itself before it judges a plan: arms, estimator, budgets, everyone in control, and in
// words how it was made. Internal to the room.
#pragma once

#include "dfcl/evaluate/curves/setting.h"

namespace dfcl::evaluate {

Evaluation describe(const Setting& setting);

}  // namespace dfcl::evaluate
