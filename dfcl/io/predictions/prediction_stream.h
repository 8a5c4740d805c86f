// SPDX-License-Identifier: Apache-2.0
//
// A prediction file as a stream, for plans over more units than fit into memory. Takes and refuses the same files with
// the same words as read_prediction does. Memory: one batch. The first pass checks every number, later ones do not.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/batch.h"

namespace dfcl::io {

// The columns are float32, revenue_<arm>, cost_<arm> and those of eligible_<arm> that the file has; last, if the file
// has it, `id`, whole numbers or text. Throws Error of kind data where there are no rows or a value is no finite
// number, with the id of the unit.
std::unique_ptr<data::BatchSource> open_prediction(const std::string& path, const std::vector<std::string>& arms,
                                                   core::RunContext& context);

}  // namespace dfcl::io
