// SPDX-License-Identifier: Apache-2.0
//
// The answer first: launch, not shown, or unfit, in one sentence with its interval, and a line for each model. A launch
// needs a plan whose gain over control is shown at once over all models that may be launched and all budgets. Another
// model than the reference is taken where it is shown to earn more than the reference, or where it alone is shown to
// gain; the sentence says which.
#pragma once

#include "dfcl/evaluate/evaluate.h"

namespace dfcl::evaluate {

Verdict verdict_of(const Evaluation& evaluation, const EvaluationOptions& options);

}  // namespace dfcl::evaluate
