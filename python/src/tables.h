// SPDX-License-Identifier: Apache-2.0
//
// Tables in and out: frames of the caller as io::MemoryTable, results as Arrow streams and NumPy arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "dfcl/data/batch.h"
#include "dfcl/data/ids.h"
#include "dfcl/data/prediction.h"
#include "dfcl/data/provenance.h"
#include "dfcl/data/result_batches.h"

namespace dfcl::python {

// A prediction with how it was made.
struct PredictionTable {
  std::shared_ptr<const data::Prediction> prediction;
  data::Provenance provenance;
};

// A table of columns with how it was made: simulated trials, truths and outcomes.
struct PlainTable {
  std::shared_ptr<const data::Table> table;
  data::Provenance provenance;
};

// A PyCapsule "arrow_array_stream".
nanobind::object stream_capsule(std::unique_ptr<data::BatchSource> source, const data::Provenance& provenance);

// An array of int64 or uint64 where ids are numbers, else a list of texts.
nanobind::object ids_to_python(const data::Ids& ids);

std::vector<std::string> column_names(const std::vector<data::ColumnInfo>& columns);

void bind_tables(nanobind::module_& module);

}  // namespace dfcl::python
