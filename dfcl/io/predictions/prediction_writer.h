// SPDX-License-Identifier: Apache-2.0
//
// Writes prediction files: `id`, then revenue_<arm> for every arm and cost_<arm> for every arm. Written 65,536 units at
// a time, however they come, so that equal predictions are equal bytes; whole or not at all. Memory: one such piece.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "dfcl/data/batch.h"
#include "dfcl/data/prediction.h"
#include "dfcl/data/provenance.h"

namespace dfcl::io {

class TableWriter;

class PredictionWriter {
 public:
  // facts: of every piece; the file says them. id_type: int64, uint64 or text, which must hold the ids of every piece.
  // extra: columns that every piece has beside.
  PredictionWriter(const std::string& path, const data::PredictionFacts& facts, data::ColumnType id_type,
                   const data::Provenance& provenance, std::vector<data::ColumnInfo> extra = {});
  ~PredictionWriter();

  void write(const data::Prediction& piece);
  void commit();

 private:
  void flush();

  std::string path_;
  data::ColumnType id_type_;
  std::size_t num_arms_;
  std::vector<data::ColumnInfo> extra_;
  data::Batch pending_;
  std::unique_ptr<TableWriter> writer_;
};

}  // namespace dfcl::io
