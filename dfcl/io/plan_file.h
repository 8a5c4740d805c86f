// SPDX-License-Identifier: Apache-2.0
//
// Plan files: `id`, `arm`, `revenue` and `cost` (predicted for the chosen arm), with the figures of the plan as the
// file's metadata. Written 65,536 units at a time, however they come, so that equal plans are equal bytes; whole or not
// at all.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/data/batch.h"
#include "dfcl/data/plan.h"
#include "dfcl/data/provenance.h"

namespace dfcl::io {

class TableWriter;

class PlanWriter {
 public:
  // numbered: ids are whole numbers in every piece; else they are written as text.
  PlanWriter(const std::string& path, bool numbered, const data::Provenance& provenance);
  ~PlanWriter();

  void write(const data::Plan& piece);
  // figures: budget, spend, value, ...; kept in the metadata of a Parquet file.
  void commit(const std::vector<std::pair<std::string, std::string>>& figures);

 private:
  void append(const data::Plan& piece, std::size_t unit);
  void flush();

  bool numbered_;
  data::Batch pending_;
  std::unique_ptr<TableWriter> writer_;
};

}  // namespace dfcl::io
