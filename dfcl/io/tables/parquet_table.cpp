// SPDX-License-Identifier: Apache-2.0
//
// Parquet as a RecordSource and a RecordSink. Files of several row groups of moderate size are read a row group a part,
// each by the thread that decodes it; others as batches of 65,536 rows. Every batch is validated in full before use.
#include <arrow/io/api.h>
#include <arrow/util/thread_pool.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>

#include <algorithm>
#include <future>
#include <mutex>

#include "dfcl/core/error.h"
#include "dfcl/io/tables/arrow_status.h"
#include "dfcl/io/tables/blocking_file.h"
#include "dfcl/io/tables/file_format.h"
#include "dfcl/io/tables/record_source.h"
#include "dfcl/io/tables/table_format.h"

namespace dfcl::io {

extern const TableFormat kParquetFormat;

namespace {

constexpr std::int64_t kBatchRows = 65536;
constexpr std::int64_t kMostRowGroupRows = std::int64_t{1} << 18;

// Whether Arrow's threads can all start. Where one cannot in the midst of a read, Arrow gives up while others still
// work on what the reader then frees: so they are started before the first.
bool arrow_threads_start() {
  static const bool all = [] {
    arrow::internal::ThreadPool* pool = arrow::internal::GetCpuThreadPool();
    std::promise<void> go;
    const std::shared_future<void> gate = go.get_future().share();
    bool started = true;  // one task for each thread, none of which ends before the last has started
    for (int i = 0; i < pool->GetCapacity() && started; ++i) started = pool->Spawn([gate] { gate.wait(); }).ok();
    go.set_value();
    return started;
  }();
  return all;
}

class ParquetSource : public RecordSource {
 public:
  ParquetSource(const std::string& path, int threads) : RecordSource(path, kParquetFormat) {
    guard([&] {
      reader_ = open_reader(threads > 1 && arrow_threads_start(), true);
      std::shared_ptr<arrow::Schema> schema;
      check(reader_->GetSchema(&schema));
      // What was added when the file was closed is not in the schema that was stored when it was opened.
      if (const auto& added = reader_->parquet_reader()->metadata()->key_value_metadata()) {
        schema = schema->WithMetadata(schema->metadata() == nullptr ? added : schema->metadata()->Merge(*added));
      }
      set_schema(schema);
    });
  }

  std::uint64_t bytes_read() const override { return rows_read_ * file_bytes() / std::max<std::uint64_t>(1, rows()); }
  std::optional<std::int64_t> num_rows() const override { return static_cast<std::int64_t>(rows()); }

  bool counts_parts() const override { return true; }
  std::uint64_t group_bytes() const override {
    std::int64_t most = 0;
    const auto& metadata = *reader_->parquet_reader()->metadata();
    for (int i = 0; i < metadata.num_row_groups() && !by_row_group_; ++i)
      most = std::max(most, metadata.RowGroup(i)->total_byte_size());
    return static_cast<std::uint64_t>(most);
  }

  void select(const std::vector<WantedColumn>& wanted) override {
    // Leaf columns and fields are the same thing only in flat tables.
    const std::vector<int> indices = indices_of(wanted);
    for (const int index : indices) {
      const auto& field = schema()->field(index);
      if (field->type()->num_fields() > 0) {
        throw core::Error({.kind = core::ErrorKind::data,
                           .what = "nested column",
                           .where = path() + ", column '" + field->name() + "'",
                           .found = field->type()->ToString(),
                           .hint = "exclude it, or write it as plain columns"});
      }
    }
    for (const WantedColumn& column : wanted) names_.push_back(column.name);
    guard([&] {
      const auto& metadata = *reader_->parquet_reader()->metadata();
      for (const std::string& name : names_) leaves_.push_back(metadata.schema()->ColumnIndex(name));
      by_row_group_ = metadata.num_row_groups() > 1;
      for (int i = 0; i < metadata.num_row_groups(); ++i) {
        by_row_group_ = by_row_group_ && metadata.RowGroup(i)->num_rows() <= kMostRowGroupRows;
      }
      if (by_row_group_) return;
      std::vector<int> row_groups(static_cast<std::size_t>(reader_->num_row_groups()));
      for (std::size_t i = 0; i < row_groups.size(); ++i) row_groups[i] = static_cast<int>(i);
      batches_ = check(reader_->GetRecordBatchReader(row_groups, leaves_));
    });
  }

  std::optional<Part> next() override {
    Part part;
    if (by_row_group_) {
      if (next_row_group_ == reader_->num_row_groups()) return std::nullopt;
      part.row_group = next_row_group_++;
      const auto rows = reader_->parquet_reader()->metadata()->RowGroup(part.row_group)->num_rows();
      part.num_rows = std::max<std::int64_t>(0, rows);
      rows_read_ += static_cast<std::uint64_t>(part.num_rows);
      return part;
    }
    guard([&] { check(batches_->ReadNext(&part.batch)); });
    if (part.batch == nullptr) return std::nullopt;
    part.num_rows = part.batch->num_rows();
    rows_read_ += static_cast<std::uint64_t>(part.num_rows);
    return part;
  }

  Decoded decode(const Part& part) const override {
    const std::shared_ptr<arrow::RecordBatch> batch = part.row_group < 0 ? part.batch : read_row_group(part.row_group);
    check(batch->ValidateFull());
    arrow::ArrayVector arrays;
    arrow::FieldVector fields;
    for (const std::string& name : names_) {
      fields.push_back(batch->schema()->GetFieldByName(name));
      arrays.push_back(batch->GetColumnByName(name));
    }
    Decoded decoded;
    decoded.num_rows = batch->num_rows();
    decoded.batch = arrow::RecordBatch::Make(arrow::schema(fields), decoded.num_rows, arrays);
    return decoded;
  }

 private:
  std::uint64_t rows() const { return static_cast<std::uint64_t>(reader_->parquet_reader()->metadata()->num_rows()); }
  void check(const arrow::Status& status) const { require_good(status, path(), "read"); }
  template <class T>
  T check(arrow::Result<T> result) const {
    return require_value(std::move(result), path(), "read");
  }
  std::unique_ptr<parquet::arrow::FileReader> open_reader(bool threads, bool by_page) const {
    parquet::ReaderProperties properties(pool());
    if (by_page) properties.enable_buffered_stream();  // pages as they are needed, not whole column chunks
    properties.set_page_checksum_verification(true);
    parquet::ArrowReaderProperties arrow_properties(threads);
    arrow_properties.set_batch_size(kBatchRows);
    arrow_properties.set_pre_buffer(false);
    parquet::arrow::FileReaderBuilder builder;
    const auto known = reader_ == nullptr ? nullptr : reader_->parquet_reader()->metadata();
    check(builder.Open(open_file(), properties, known));
    std::unique_ptr<parquet::arrow::FileReader> reader;
    check(builder.memory_pool(pool())->properties(arrow_properties)->Build(&reader));
    return reader;
  }

  // Readers are lent to whichever thread asks: one reader serves one thread at a time.
  std::shared_ptr<arrow::RecordBatch> read_row_group(int row_group) const {
    std::unique_ptr<parquet::arrow::FileReader> reader;
    {
      const std::lock_guard lock(idle_mutex_);
      if (!idle_.empty()) {
        reader = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    std::shared_ptr<arrow::RecordBatch> batch;
    guard([&] {
      if (reader == nullptr) reader = open_reader(false, false);
      batch = check(check(reader->ReadRowGroup(row_group, leaves_))->CombineChunksToBatch(pool()));
    });
    const std::lock_guard lock(idle_mutex_);
    idle_.push_back(std::move(reader));
    return batch;
  }

  // Some of the Parquet library's failures are exceptions.
  template <class Action>
  void guard(Action&& action) const {
    try {
      action();
    } catch (const parquet::ParquetException& failure) {
      check(arrow::Status::IOError(failure.what()));
    }
  }

  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::unique_ptr<arrow::RecordBatchReader> batches_;
  std::vector<std::string> names_;
  std::vector<int> leaves_;
  bool by_row_group_ = false;
  int next_row_group_ = 0;
  mutable std::mutex idle_mutex_;
  mutable std::vector<std::unique_ptr<parquet::arrow::FileReader>> idle_;
  std::uint64_t rows_read_ = 0;
};

// Batches become row groups as they come.
class ParquetSink : public RecordSink {
 public:
  ParquetSink(const OutputFile& file, const std::string& path, std::shared_ptr<arrow::Schema> schema, Values values)
      : RecordSink(path), schema_(std::move(schema)), stream_(file) {
    parquet::WriterProperties::Builder builder;
    builder.compression(parquet::Compression::SNAPPY);
    if (values == Values::seldom_repeat) builder.disable_dictionary();
    const auto arrow_properties = parquet::ArrowWriterProperties::Builder().store_schema()->build();
    writer_ = check(parquet::arrow::FileWriter::Open(*schema_, arrow::default_memory_pool(), stream_, builder.build(),
                                                     arrow_properties));
  }

  void write(const std::shared_ptr<arrow::RecordBatch>& batch) override {
    const auto table = check(arrow::Table::FromRecordBatches(schema_, {batch}));
    check(writer_->WriteTable(*table, std::max<std::int64_t>(batch->num_rows(), 1)));
  }

  void close(const Figures& figures) override {
    if (!figures.empty())
      check(writer_->AddKeyValueMetadata(arrow::key_value_metadata({{kFiguresKey, figures_json(figures)}})));
    check(writer_->Close());
    check(stream_->Close());
  }

 private:
  std::shared_ptr<arrow::Schema> schema_;
  OutputFile stream_;
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
};

}  // namespace

const TableFormat kParquetFormat = {
    .name = "Parquet",
    .endings = {".parquet"},
    .is_text = false,
    .starts_with = [](std::string_view head) { return head.starts_with("PAR1"); },
    .open = [](const std::string& path, int threads) -> std::unique_ptr<RecordSource> {
      return std::make_unique<ParquetSource>(path, threads);
    },
    .create = [](const OutputFile& file, const std::string& path, std::shared_ptr<arrow::Schema> schema,
                 Values values) -> std::unique_ptr<RecordSink> {
      return std::make_unique<ParquetSink>(file, path, std::move(schema), values);
    }};

}  // namespace dfcl::io
