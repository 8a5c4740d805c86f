// SPDX-License-Identifier: Apache-2.0
// Parquet as a RecordSource: batches of 65,536 rows, validated in full before use.
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>

#include "dfcl/core/error.h"
#include "dfcl/io/arrow_status.h"
#include "dfcl/io/blocking_file.h"
#include "dfcl/io/record_source.h"

namespace dfcl::io {
namespace {

constexpr std::int64_t kBatchRows = 65536;

class ParquetSource : public RecordSource {
 public:
  ParquetSource(const std::string& path, int threads) : RecordSource(path, FileFormat::parquet) {
    guard([&] {
      file_ = check(BlockingFile::open(path, pool()));
      parquet::ReaderProperties properties(pool());
      properties.enable_buffered_stream();  // pages as they are needed, not whole column chunks
      properties.set_page_checksum_verification(true);
      parquet::ArrowReaderProperties arrow_properties(threads > 1);
      arrow_properties.set_batch_size(kBatchRows);
      arrow_properties.set_pre_buffer(false);
      parquet::arrow::FileReaderBuilder builder;
      check(builder.Open(file_, properties));
      check(builder.memory_pool(pool())->properties(arrow_properties)->Build(&reader_));
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
      std::vector<int> leaves;
      const auto* descriptor = reader_->parquet_reader()->metadata()->schema();
      for (const std::string& name : names_) leaves.push_back(descriptor->ColumnIndex(name));
      std::vector<int> row_groups(static_cast<std::size_t>(reader_->num_row_groups()));
      for (std::size_t i = 0; i < row_groups.size(); ++i) row_groups[i] = static_cast<int>(i);
      batches_ = check(reader_->GetRecordBatchReader(row_groups, leaves));
    });
  }

  std::optional<Part> next() override {
    Part part;
    guard([&] { check(batches_->ReadNext(&part.batch)); });
    if (part.batch == nullptr) return std::nullopt;
    rows_read_ += static_cast<std::uint64_t>(part.batch->num_rows());
    return part;
  }

  Decoded decode(const Part& part) const override {
    check(part.batch->ValidateFull());
    arrow::ArrayVector arrays;
    arrow::FieldVector fields;
    for (const std::string& name : names_) {
      fields.push_back(part.batch->schema()->GetFieldByName(name));
      arrays.push_back(part.batch->GetColumnByName(name));
    }
    Decoded decoded;
    decoded.num_rows = part.batch->num_rows();
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
  // Some of the Parquet library's failures are exceptions.
  template <class Action>
  void guard(Action&& action) const {
    try {
      action();
    } catch (const parquet::ParquetException& failure) {
      check(arrow::Status::IOError(failure.what()));
    }
  }

  std::shared_ptr<BlockingFile> file_;
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::unique_ptr<arrow::RecordBatchReader> batches_;
  std::vector<std::string> names_;
  std::uint64_t rows_read_ = 0;
};

}  // namespace

std::unique_ptr<RecordSource> open_parquet_records(const std::string& path, int threads) {
  return std::make_unique<ParquetSource>(path, threads);
}

}  // namespace dfcl::io
