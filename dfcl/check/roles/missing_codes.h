// SPDX-License-Identifier: Apache-2.0
//
// Numbers that stand for "missing": -999 below everything else, 9999 above it. Time: one pass per column.
#pragma once

#include <vector>

#include "dfcl/data/table_sample.h"

namespace dfcl::check {

// Codes that, wherever they occur, lie alone at one end of their column, far from the rest. except: columns that are
// not looked at.
std::vector<double> find_missing_codes(const data::TableSample& sample, const std::vector<bool>& except);

// Puts NaN in their place.
void blank_codes(const std::vector<double>& codes, const std::vector<bool>& except, data::TableSample& sample);

}  // namespace dfcl::check
