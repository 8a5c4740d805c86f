// SPDX-License-Identifier: Apache-2.0
//
// Writes batches to a table file: Parquet, CSV, gzipped CSV or Arrow IPC, as the name ends. The file appears under its
// name only at commit(); until then it is a temporary beside it, removed if the writer goes without commit. The file
// beside a CSV file is given its name first: after a crash in between it speaks for a table that is not there, which
// readers notice.
// Batches become row groups as they come, so equal batches give equal bytes. Memory: one batch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/data/batch.h"
#include "dfcl/data/provenance.h"

namespace dfcl::io {

// Of a table: Parquet stores each value of a column once where they repeat, and looking for repeats costs time.
enum class Values : std::uint8_t { often_repeat, seldom_repeat };

// Names and values of what is known only once everything is written.
using Figures = std::vector<std::pair<std::string, std::string>>;

class TableWriter {
 public:
  // Throws Error of kind file when the folder is absent or cannot be written, of kind usage for an unknown ending.
  TableWriter(const std::string& path, std::vector<data::ColumnInfo> columns, const data::Provenance& provenance,
              Values values = Values::often_repeat);
  ~TableWriter();
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;

  // NaN and the empty text are written as null. A full disk throws Error of kind file.
  void write(const data::Batch& batch);
  // Ends the file and gives it its name. `figures` are what is known only once everything is written; they are kept
  // with the provenance: in the file's metadata under "dfcl_figures", for a text file in the file beside it
  // (meta_file.h).
  void commit(const Figures& figures = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dfcl::io
