// SPDX-License-Identifier: Apache-2.0
//
// The column `id` of the tables that are written piece by piece. Internal to io.
#pragma once

#include <cstddef>
#include <string>

#include "dfcl/data/ids.h"

namespace dfcl::io {

// Adds the ids [begin, end). Throws Error of kind data for one that the column, of the type of the first piece, cannot
// hold; `where` names the file that is written.
void append_id_column(const data::Ids& ids, std::size_t begin, std::size_t end, data::ColumnValues& column,
                      const std::string& where);

}  // namespace dfcl::io
