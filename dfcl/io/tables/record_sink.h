// SPDX-License-Identifier: Apache-2.0
//
// A table file that is written from record batches, whatever its format. Internal to io.
#pragma once

#include <arrow/api.h>
#include <arrow/io/interfaces.h>

#include <memory>
#include <string>
#include <utility>

#include "dfcl/io/tables/arrow_status.h"
#include "dfcl/io/tables/table_writer.h"

namespace dfcl::io {

using OutputFile = std::shared_ptr<arrow::io::OutputStream>;

class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void write(const std::shared_ptr<arrow::RecordBatch>& batch) = 0;
  // Ends the file. A format that is no text keeps the figures in its metadata, under kFiguresKey.
  virtual void close(const Figures& figures) = 0;

 protected:
  // path: what messages call the file.
  explicit RecordSink(std::string path) : path_(std::move(path)) {}
  void check(const arrow::Status& status) const { require_good(status, path_, "write"); }
  template <class T>
  T check(arrow::Result<T> result) const {
    return require_value(std::move(result), path_, "write");
  }

 private:
  std::string path_;
};

// The figures as a JSON object of texts.
std::string figures_json(const Figures& figures);

}  // namespace dfcl::io
