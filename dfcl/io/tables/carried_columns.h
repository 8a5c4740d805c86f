// SPDX-License-Identifier: Apache-2.0
//
// Columns of a table that travel as they are, beside what is made of its rows: read in row order, as many rows at a
// time as asked for. A pass of its own over these columns alone. Memory: one part of the file.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/batch.h"

namespace dfcl::io {

class CarriedColumns {
 public:
  // path: a file, glob or folder. The context must outlive it. Throws Error of kind data where a column is not there.
  CarriedColumns(const std::string& path, const std::vector<std::string>& names, core::RunContext& context);
  ~CarriedColumns();

  const std::vector<data::ColumnInfo>& columns() const;
  // The next rows. Throws Error of kind data where the table has fewer.
  data::ExtraColumns take(std::size_t num_rows);

 private:
  std::string path_;
  std::unique_ptr<data::BatchSource> source_;
  data::Batch batch_;
  std::size_t used_ = 0;  // rows of the batch
};

}  // namespace dfcl::io
