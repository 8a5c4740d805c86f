// SPDX-License-Identifier: Apache-2.0
//
// Where the output layers of a network for tables start: at the arms' means over the training units, so that no step is
// spent on what one pass over the outcomes knows. Of arms that are free of each other; predictions that keep a shape
// over the arms start as they are.
#pragma once

#include "dfcl/learn/training_set.h"
#include "dfcl/nn/table/table_network.h"

namespace dfcl::nn {

// with_revenue: the network predicts revenue, not scores of efficiencies.
void start_at_arm_means(const learn::TrainingSet& set, bool with_revenue, TableNetwork<float>& network);

}  // namespace dfcl::nn
