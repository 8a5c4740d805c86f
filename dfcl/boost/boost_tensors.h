// SPDX-License-Identifier: Apache-2.0
//
// Boosted trees as tensors of a model file. Reading trusts nothing: sizes are held against what is there before
// anything is made of them; what the numbers mean is checked by require_consistent.
#pragma once

#include "dfcl/boost/boost_parts.h"
#include "dfcl/learn/part.h"

namespace dfcl::boost {

void put_parts(const learn::PartWriter& part, const BoostParts& parts);
// Throws Error of kind file.
BoostParts parts_of(const learn::PartReader& part);

}  // namespace dfcl::boost
