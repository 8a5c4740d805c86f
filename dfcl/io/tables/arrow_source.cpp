// SPDX-License-Identifier: Apache-2.0
// Arrow IPC files and streams as a RecordSource. Arrow's reader trusts what it reads, so every batch is validated in
// full before use. Large batches are cut into slices of 65,536 rows.
#include <arrow/ipc/reader.h>

#include <algorithm>

#include "dfcl/io/tables/arrow_status.h"
#include "dfcl/io/tables/blocking_file.h"
#include "dfcl/io/tables/record_source.h"

namespace dfcl::io {
namespace {

constexpr std::int64_t kBatchRows = 65536;

class ArrowSource : public RecordSource {
 public:
  ArrowSource(const std::string& path, FileFormat format) : RecordSource(path, format) {
    file_ = check(BlockingFile::open(path, pool()));
    auto options = arrow::ipc::IpcReadOptions::Defaults();
    options.memory_pool = pool();
    options.use_threads = false;
    options.max_recursion_depth = 8;
    if (format == FileFormat::arrow_file) {
      file_reader_ = check(arrow::ipc::RecordBatchFileReader::Open(file_, options));
      set_schema(file_reader_->schema());
    } else {
      stream_reader_ = check(arrow::ipc::RecordBatchStreamReader::Open(file_, options));
      set_schema(stream_reader_->schema());
    }
  }

  std::uint64_t bytes_read() const override {
    const auto position = file_->Tell();
    return position.ok() ? std::min(file_bytes(), static_cast<std::uint64_t>(*position)) : 0;
  }

  void select(const std::vector<WantedColumn>& wanted) override { indices_ = indices_of(wanted); }

  std::optional<Part> next() override {
    while (batch_ == nullptr || next_row_ >= batch_->num_rows()) {
      batch_ = next_batch();
      if (batch_ == nullptr) return std::nullopt;
      check(batch_->ValidateFull());
      next_row_ = 0;
    }
    Part part;
    part.batch = batch_->Slice(next_row_, kBatchRows);
    next_row_ += part.batch->num_rows();
    return part;
  }

  Decoded decode(const Part& part) const override {
    Decoded decoded;
    decoded.num_rows = part.batch->num_rows();
    decoded.batch = check(part.batch->SelectColumns(indices_));
    return decoded;
  }

 private:
  std::shared_ptr<arrow::RecordBatch> next_batch() {
    std::shared_ptr<arrow::RecordBatch> batch;
    if (stream_reader_ != nullptr) {
      check(stream_reader_->ReadNext(&batch));
    } else if (next_index_ < file_reader_->num_record_batches()) {
      batch = check(file_reader_->ReadRecordBatch(next_index_++));
    }
    return batch;
  }
  void check(const arrow::Status& status) const { require_good(status, path(), "read"); }
  template <class T>
  T check(arrow::Result<T> result) const {
    return require_value(std::move(result), path(), "read");
  }

  std::shared_ptr<BlockingFile> file_;
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> file_reader_;
  std::shared_ptr<arrow::ipc::RecordBatchStreamReader> stream_reader_;
  std::vector<int> indices_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::int64_t next_row_ = 0;
  int next_index_ = 0;
};

}  // namespace

std::unique_ptr<RecordSource> open_arrow_records(const std::string& path, FileFormat format) {
  return std::make_unique<ArrowSource>(path, format);
}

}  // namespace dfcl::io
