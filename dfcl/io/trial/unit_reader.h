// SPDX-License-Identifier: Apache-2.0
//
// Units to predict for, streamed as batches of ids and features in the codes a model knows: any table file, glob or
// folder with the model's columns; others are not read. Levels the model has not seen become code 0 and missing values
// NaN. Memory: the parts in flight, one a thread, about 8 MiB of text or 65,536 rows each.
//
// With all threads, through core::ordered_pipeline: read() produces, decode() transforms, accept() comes first in
// consuming. One after the other: next().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/batch.h"
#include "dfcl/data/features.h"
#include "dfcl/data/ids.h"

namespace dfcl::io {

// What the files must hold.
struct UnitSchema {
  std::vector<data::FeatureColumn> features;  // with levels
  std::string id;  // "": the column `id` where there is one and it is no feature, else the row number from 1
  std::vector<double> missing;  // codes that mean missing, beside null and NaN
};

struct RawUnits;  // a part of a file, not yet decoded

struct UnitBatch {
  data::Ids ids;
  core::Matrix<float> features;   // units x features
  std::shared_ptr<RawUnits> raw;  // for the places in errors, until accepted

  std::size_t num_units() const { return features.rows(); }
};

class UnitReader {
 public:
  // Throws Error of kind data that names the columns which are missing, with "did you mean".
  UnitReader(const std::string& path, UnitSchema schema, core::RunContext& context);
  ~UnitReader();

  // Whether there is an id column; else ids are row numbers over all files.
  bool has_ids() const;
  // What a column of the ids is, before they are read: int64 for row numbers, else that of the first file
  // (id_type_in of batch_reader.h).
  data::ColumnType id_type() const;

  // The next part, never null; nothing at the end. One caller at a time.
  std::optional<std::shared_ptr<RawUnits>> read();
  // Any number of threads.
  UnitBatch decode(std::shared_ptr<RawUnits> raw) const;
  // In the order of read(). Numbers the units that have no id. Throws Error of kind data, with file, line and column,
  // where a value could not be decoded.
  void accept(UnitBatch& batch);

  // All three. False at the end.
  bool next(UnitBatch& batch);
  void rewind();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dfcl::io
