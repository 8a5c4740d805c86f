// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/carried_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/suggest.h"
#include "dfcl/io/tables/batch_reader.h"

namespace dfcl::io {

CarriedColumns::CarriedColumns(const std::string& path, const std::vector<std::string>& names,
                               core::RunContext& context)
    : path_(path) {
  const std::vector<std::string> found = column_names(path);
  for (const std::string& name : names) {
    if (std::find(found.begin(), found.end(), name) != found.end()) continue;
    core::ErrorDetails details =
        core::data_error(path, fmt::format("no column '{}', which is to be carried", name)).details();
    details.hint = core::suggest(name, found);
    throw core::Error(details);
  }
  source_ = open_batches(path, names, {}, context);
}

CarriedColumns::~CarriedColumns() = default;

const std::vector<data::ColumnInfo>& CarriedColumns::columns() const { return source_->columns(); }

data::ExtraColumns CarriedColumns::take(std::size_t num_rows) {
  data::ExtraColumns taken{source_->columns(), {}};
  for (const data::ColumnInfo& column : taken.columns) taken.values.push_back(data::empty_values(column.type));
  for (std::size_t left = num_rows; left > 0;) {
    if (used_ == batch_.num_rows) {
      used_ = 0;
      if (!source_->next(batch_)) throw core::data_error(path_, "the table has fewer rows than before");
    }
    const std::size_t count = std::min(left, batch_.num_rows - used_);
    for (std::size_t column = 0; column < taken.values.size(); ++column)
      data::append_rows(batch_.columns[column], used_, used_ + count, taken.values[column]);
    used_ += count;
    left -= count;
  }
  return taken;
}

}  // namespace dfcl::io
