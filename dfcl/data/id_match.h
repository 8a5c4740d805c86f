// SPDX-License-Identifier: Apache-2.0
//
// Joins two tables by the ids of their units. Tables in the same order are joined by one comparison a row; else through
// a table of hashes, about 32 bytes a unit.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dfcl/data/ids.h"

namespace dfcl::data {

// For each wanted unit its row in `given`, which may hold more. Throws Error of kind data where units are missing or an
// id stands twice in `given`; `where` names the given table.
std::vector<std::size_t> match_ids(const Ids& wanted, const Ids& given, const std::string& where);

}  // namespace dfcl::data
