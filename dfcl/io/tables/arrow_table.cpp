// SPDX-License-Identifier: Apache-2.0
//
// Arrow IPC files as a RecordSource and a RecordSink, Arrow IPC streams as a RecordSource. Arrow's reader trusts what
// it reads, so every batch is validated in full before use. Large batches are cut into slices of 65,536 rows.
#include <arrow/io/api.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>

#include <algorithm>

#include "dfcl/io/tables/arrow_status.h"
#include "dfcl/io/tables/blocking_file.h"
#include "dfcl/io/tables/file_format.h"
#include "dfcl/io/tables/record_source.h"
#include "dfcl/io/tables/table_format.h"

namespace dfcl::io {

extern const TableFormat kArrowFileFormat;
extern const TableFormat kArrowStreamFormat;

namespace {

constexpr std::int64_t kBatchRows = 65536;

class ArrowSource : public RecordSource {
 public:
  ArrowSource(const std::string& path, const TableFormat& format) : RecordSource(path, format) {
    file_ = open_file();
    auto options = arrow::ipc::IpcReadOptions::Defaults();
    options.memory_pool = pool();
    options.use_threads = false;
    options.max_recursion_depth = 8;
    if (&format == &kArrowFileFormat) {
      file_reader_ = check(arrow::ipc::RecordBatchFileReader::Open(file_, options));
      auto schema = file_reader_->schema();
      // What was known only when the file was closed stands in its footer.
      if (const auto added = file_reader_->metadata(); added != nullptr && added->size() > 0)
        schema = schema->WithMetadata(schema->metadata() == nullptr ? added : schema->metadata()->Merge(*added));
      set_schema(schema);
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

class ArrowSink : public RecordSink {
 public:
  ArrowSink(const OutputFile& file, const std::string& path, const std::shared_ptr<arrow::Schema>& schema)
      : RecordSink(path),
        stream_(file),
        footer_(std::make_shared<arrow::KeyValueMetadata>()),
        writer_(check(arrow::ipc::MakeFileWriter(stream_, schema, arrow::ipc::IpcWriteOptions::Defaults(), footer_))) {}

  void write(const std::shared_ptr<arrow::RecordBatch>& batch) override { check(writer_->WriteRecordBatch(*batch)); }

  void close(const Figures& figures) override {
    if (!figures.empty()) footer_->Append(kFiguresKey, figures_json(figures));  // written by Close()
    check(writer_->Close());
    check(stream_->Close());
  }

 private:
  OutputFile stream_;
  std::shared_ptr<arrow::KeyValueMetadata> footer_;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer_;
};

}  // namespace

const TableFormat kArrowFileFormat = {
    .name = "Arrow IPC",
    .endings = {".arrow", ".feather", ".ipc"},
    .is_text = false,
    .starts_with = [](std::string_view head) { return head.starts_with("ARROW1"); },
    .open = [](const std::string& path, int) -> std::unique_ptr<RecordSource> {
      return std::make_unique<ArrowSource>(path, kArrowFileFormat);
    },
    .create = [](const OutputFile& file, const std::string& path, std::shared_ptr<arrow::Schema> schema,
                 Values) -> std::unique_ptr<RecordSink> { return std::make_unique<ArrowSink>(file, path, schema); }};

const TableFormat kArrowStreamFormat = {
    .name = "Arrow IPC stream",
    .endings = {},
    .is_text = false,
    .starts_with = [](std::string_view head) { return head.starts_with("\xff\xff\xff\xff"); },
    .open = [](const std::string& path, int) -> std::unique_ptr<RecordSource> {
      return std::make_unique<ArrowSource>(path, kArrowStreamFormat);
    },
    .create = nullptr};

}  // namespace dfcl::io
