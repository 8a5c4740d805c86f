// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/predictions/id_column.h"

#include <fmt/format.h>

#include "dfcl/core/error_makers.h"

namespace dfcl::io {

void append_id_column(const data::Ids& ids, std::size_t begin, std::size_t end, data::ColumnValues& column,
                      const std::string& where) {
  const auto unit = data::append_ids(ids, begin, end, column);
  if (!unit) return;
  throw core::data_error(fmt::format("{}, column 'id'", where), "an id of another kind than those before it",
                         fmt::format("'{}'", ids.text(*unit)), "whole numbers, as in the first rows",
                         "save the ids of the input as a column of text");
}

}  // namespace dfcl::io
