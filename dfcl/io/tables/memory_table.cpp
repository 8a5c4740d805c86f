// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/memory_table.h"

#include <arrow/api.h>
#include <arrow/buffer_builder.h>
#include <arrow/c/bridge.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>

#include "dfcl/io/tables/arrow_status.h"
#include "dfcl/io/tables/record_source.h"

namespace dfcl::io {

struct MemoryRecords {
  std::shared_ptr<arrow::Schema> schema;
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  std::int64_t num_rows = 0;
};

namespace {

constexpr std::int64_t kPartRows = 65536;

// The tables that are alive. A reader is given a name and nothing else, as it is for files.
struct Names {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const MemoryRecords>> tables;
};

Names& names() {
  static Names all;
  return all;
}

// <label>, or <label 2>, ... where others of this label are alive.
std::string add_name(const std::string& label, std::shared_ptr<const MemoryRecords> records) {
  const std::lock_guard lock(names().mutex);
  std::string name = fmt::format("<{}>", label);
  for (int number = 2; !names().tables.try_emplace(name, records).second; ++number)
    name = fmt::format("<{} {}>", label, number);
  return name;
}

std::shared_ptr<const MemoryRecords> find(const std::string& path) {
  if (!path.starts_with('<')) return nullptr;
  const std::lock_guard lock(names().mutex);
  const auto found = names().tables.find(path);
  return found == names().tables.end() ? nullptr : found->second;
}

// Found by its name, never by the bytes of a file.
constexpr TableFormat kMemoryFormat = {.name = "table in memory",
                                       .endings = {},
                                       .is_text = false,
                                       .starts_with = nullptr,
                                       .open = nullptr,
                                       .create = nullptr};

class MemorySource : public RecordSource {
 public:
  MemorySource(const std::string& path, std::shared_ptr<const MemoryRecords> records)
      : RecordSource(path, kMemoryFormat), records_(std::move(records)) {
    set_schema(records_->schema);
  }

  std::uint64_t bytes_read() const override { return 0; }
  std::optional<std::int64_t> num_rows() const override { return records_->num_rows; }
  bool counts_parts() const override { return true; }
  void select(const std::vector<WantedColumn>& wanted) override { indices_ = indices_of(wanted); }

  std::optional<Part> next() override {
    while (batch_ < records_->batches.size() && row_ >= records_->batches[batch_]->num_rows()) {
      ++batch_;
      row_ = 0;
    }
    if (batch_ == records_->batches.size()) return std::nullopt;
    Part part;
    part.batch = records_->batches[batch_]->Slice(row_, kPartRows);
    part.num_rows = part.batch->num_rows();
    row_ += part.num_rows;
    return part;
  }

  Decoded decode(const Part& part) const override {
    Decoded decoded;
    decoded.num_rows = part.batch->num_rows();
    decoded.batch = require_value(part.batch->SelectColumns(indices_), path(), "read");
    return decoded;
  }

 private:
  std::shared_ptr<const MemoryRecords> records_;
  std::vector<int> indices_;
  std::size_t batch_ = 0;
  std::int64_t row_ = 0;
};

std::shared_ptr<const MemoryRecords> read_stream(ArrowArrayStream* stream, const std::string& label) {
  const std::string where = fmt::format("<{}>", label);
  auto reader = require_value(arrow::ImportRecordBatchReader(stream), where, "read");
  auto records = std::make_shared<MemoryRecords>();
  records->schema = reader->schema();
  std::shared_ptr<arrow::RecordBatch> batch;
  for (;;) {
    require_good(reader->ReadNext(&batch), where, "read");
    if (batch == nullptr) break;
    require_good(batch->Validate(), where, "read");
    records->num_rows += batch->num_rows();
    records->batches.push_back(std::move(batch));
  }
  return records;
}

std::shared_ptr<const MemoryRecords> read_batch(ArrowSchema* schema, ArrowArray* array, const std::string& label) {
  const std::string where = fmt::format("<{}>", label);
  auto batch = require_value(arrow::ImportRecordBatch(array, schema), where, "read");
  require_good(batch->Validate(), where, "read");
  auto records = std::make_shared<MemoryRecords>();
  records->schema = batch->schema();
  records->num_rows = batch->num_rows();
  records->batches.push_back(std::move(batch));
  return records;
}

std::shared_ptr<arrow::DataType> type_of(MemoryColumn::Type type) {
  switch (type) {
    case MemoryColumn::Type::int8: return arrow::int8();
    case MemoryColumn::Type::int16: return arrow::int16();
    case MemoryColumn::Type::int32: return arrow::int32();
    case MemoryColumn::Type::int64: return arrow::int64();
    case MemoryColumn::Type::uint8: return arrow::uint8();
    case MemoryColumn::Type::uint16: return arrow::uint16();
    case MemoryColumn::Type::uint32: return arrow::uint32();
    case MemoryColumn::Type::uint64: return arrow::uint64();
    case MemoryColumn::Type::float32: return arrow::float32();
    case MemoryColumn::Type::float64: return arrow::float64();
  }
  return arrow::float64();
}

std::shared_ptr<arrow::DataType> type_of(const MemoryColumn& column) {
  if (column.time == MemoryColumn::Time::none) return type_of(column.type);
  const auto unit = [&] {
    switch (column.unit) {
      case MemoryColumn::Unit::second: return arrow::TimeUnit::SECOND;
      case MemoryColumn::Unit::millisecond: return arrow::TimeUnit::MILLI;
      case MemoryColumn::Unit::microsecond: return arrow::TimeUnit::MICRO;
      case MemoryColumn::Unit::nanosecond: return arrow::TimeUnit::NANO;
    }
    return arrow::TimeUnit::SECOND;
  }();
  return column.time == MemoryColumn::Time::instant ? arrow::timestamp(unit) : arrow::duration(unit);
}

// Which times are there, as a bitmap; null: all.
std::shared_ptr<arrow::Buffer> known_times(const MemoryColumn& column, std::size_t num_rows, const std::string& where) {
  if (column.time == MemoryColumn::Time::none) return nullptr;
  const auto* times = static_cast<const std::int64_t*>(column.values);
  constexpr std::int64_t kMissing = std::numeric_limits<std::int64_t>::min();
  if (std::find(times, times + num_rows, kMissing) == times + num_rows) return nullptr;
  arrow::TypedBufferBuilder<bool> known;
  for (std::size_t row = 0; row < num_rows; ++row) require_good(known.Append(times[row] != kMissing), where, "read");
  return require_value(known.Finish(), where, "read");
}

// Memory of somebody else, kept while the buffer lives.
class KeptBuffer : public arrow::Buffer {
 public:
  KeptBuffer(const void* data, std::int64_t bytes, std::shared_ptr<const void> owner)
      : arrow::Buffer(static_cast<const std::uint8_t*>(data), bytes), owner_(std::move(owner)) {}

 private:
  std::shared_ptr<const void> owner_;
};

std::shared_ptr<arrow::Array> texts_to_arrow(const data::TextColumn& texts, const std::string& where) {
  arrow::LargeStringBuilder builder;
  for (std::size_t row = 0; row < texts.size(); ++row) {
    require_good(texts[row].empty() ? builder.AppendNull() : builder.Append(texts[row]), where, "read");
  }
  return require_value(builder.Finish(), where, "read");
}

std::shared_ptr<const MemoryRecords> make_records(std::vector<MemoryColumn> columns, std::size_t num_rows,
                                                  const std::string& label) {
  const std::string where = fmt::format("<{}>", label);
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (MemoryColumn& column : columns) {
    if (column.values == nullptr && column.texts.size() == num_rows) {
      arrays.push_back(texts_to_arrow(column.texts, where));
    } else {
      const auto type = type_of(column);
      const auto bytes = static_cast<std::int64_t>(num_rows) * type->byte_width();
      arrays.push_back(arrow::MakeArray(arrow::ArrayData::Make(
          type, static_cast<std::int64_t>(num_rows),
          {known_times(column, num_rows, where), std::make_shared<KeptBuffer>(column.values, bytes, column.owner)})));
    }
    fields.push_back(arrow::field(column.name, arrays.back()->type()));
  }
  auto records = std::make_shared<MemoryRecords>();
  records->schema = arrow::schema(std::move(fields));
  records->num_rows = static_cast<std::int64_t>(num_rows);
  records->batches.push_back(arrow::RecordBatch::Make(records->schema, records->num_rows, std::move(arrays)));
  return records;
}

}  // namespace

MemoryTable::MemoryTable(ArrowArrayStream* stream, const std::string& label) : records_(read_stream(stream, label)) {
  path_ = add_name(label, records_);
}

MemoryTable::MemoryTable(ArrowSchema* schema, ArrowArray* batch, const std::string& label)
    : records_(read_batch(schema, batch, label)) {
  path_ = add_name(label, records_);
}

MemoryTable::MemoryTable(std::vector<MemoryColumn> columns, std::size_t num_rows, const std::string& label)
    : records_(make_records(std::move(columns), num_rows, label)) {
  path_ = add_name(label, records_);
}

MemoryTable::~MemoryTable() {
  const std::lock_guard lock(names().mutex);
  names().tables.erase(path_);
}

std::int64_t MemoryTable::num_rows() const { return records_->num_rows; }
std::vector<std::string> MemoryTable::column_names() const { return records_->schema->field_names(); }

bool is_memory_table(const std::string& path) { return find(path) != nullptr; }

std::unique_ptr<RecordSource> open_memory_records(const std::string& path) {
  auto records = find(path);
  return records == nullptr ? nullptr : std::make_unique<MemorySource>(path, std::move(records));
}

}  // namespace dfcl::io
