// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/batch_reader.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <filesystem>

#include "dfcl/core/error.h"
#include "dfcl/io/tables/column_values.h"
#include "dfcl/io/tables/file_format.h"
#include "dfcl/io/tables/id_values.h"
#include "dfcl/io/tables/record_source.h"

namespace dfcl::io {
namespace {

data::ColumnType type_in_file(const arrow::DataType& type, bool is_text_file) {
  if (type.id() == arrow::Type::FLOAT) return data::ColumnType::float32;
  if (type.id() == arrow::Type::UINT64) return data::ColumnType::uint64;
  if (arrow::is_integer(type.id())) return data::ColumnType::int64;
  const bool word = is_text_file && type.id() != arrow::Type::DOUBLE;
  return is_number(type) && !word ? data::ColumnType::float64 : data::ColumnType::text;
}

ParseAs parse_as(data::ColumnType type) {
  switch (type) {
    case data::ColumnType::float32: return ParseAs::float32;
    case data::ColumnType::float64: return ParseAs::float64;
    case data::ColumnType::int64:
    case data::ColumnType::uint64:
    case data::ColumnType::text: break;
  }
  return ParseAs::text;
}

template <class T>
std::vector<T> numbers(const arrow::Array& array) {
  std::vector<T> values(static_cast<std::size_t>(array.length()));
  fill_numbers(array, 0, array.length(), values.data(), 1);
  return values;
}

class FileBatches : public data::BatchSource {
 public:
  FileBatches(const std::string& path, const std::vector<std::string>& names,
              const std::vector<data::ColumnType>& types, const std::string& id_column, core::RunContext& context)
      : id_column_(id_column), files_(input_files(path)), context_(context) {
    source_ = open_records(files_.front(), context.pool.threads());
    versions_.push_back(source_->version());
    for (const std::string& name : names.empty() ? source_->schema()->field_names() : names) {
      const auto field = source_->schema()->GetFieldByName(name);
      const auto type = !types.empty()     ? types[columns_.size()]
                        : field == nullptr ? data::ColumnType::text  // reported by select()
                                           : type_in_file(*field->type(), source_->is_text_file());
      columns_.push_back({name, type});
      wanted_.push_back({name, parse_as(type)});
    }
    source_->select(wanted_);
  }

  const std::vector<data::ColumnInfo>& columns() const override { return columns_; }

  bool next(data::Batch& batch) override {
    for (;;) {
      context_.check_cancelled();
      if (auto part = source_->next()) {
        convert(*part, batch);
        return true;
      }
      source_->require_unchanged();
      if (++file_ >= files_.size()) return false;
      open();
    }
  }

  void rewind() override {
    file_ = 0;
    open();
  }

 private:
  void open() {
    source_ = open_records(files_[file_], context_.pool.threads());
    // Passes over different files would mix them.
    if (file_ == versions_.size()) versions_.push_back(source_->version());
    require_same_file(versions_[file_], *source_);
    source_->select(wanted_);
    rows_before_ = lines_before_ = 0;
  }

  [[noreturn]] void fail(const Part& part, const BadRow& bad) const {
    throw source_->error_of(bad, part, rows_before_, lines_before_);
  }

  void convert(const Part& part, data::Batch& batch) {
    const Decoded decoded = source_->decode(part);
    if (decoded.bad) fail(part, *decoded.bad);
    batch.num_rows = static_cast<std::size_t>(decoded.num_rows);
    batch.columns.clear();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      batch.columns.push_back(values_of(part, *decoded.batch->column(static_cast<int>(i)), columns_[i]));
    }
    rows_before_ += decoded.num_rows;
    lines_before_ += decoded.num_lines;
  }

  data::ColumnValues values_of(const Part& part, const arrow::Array& array, const data::ColumnInfo& column) const {
    if (column.type == data::ColumnType::float32 || column.type == data::ColumnType::float64) {
      if (!is_number(*array.type()))
        fail(part, {0, column.name, "text in a numeric column", array.type()->ToString(), "numbers", ""});
      if (column.type == data::ColumnType::float32) return numbers<float>(array);
      return numbers<double>(array);
    }
    // Whole numbers and text are exact, whatever the file holds them as.
    const Letters letters = source_->is_text_file() ? Letters::may_be_numbers : Letters::are_text;
    std::optional<BadRow> bad;
    const data::Ids ids =
        column.name == id_column_ ? read_ids(array, letters, column.name, bad) : ids_of(array, letters);
    if (bad) fail(part, *bad);
    data::ColumnValues values = data::empty_values(column.type);
    if (const auto misfit = data::append_ids(ids, 0, ids.size(), values)) {
      const std::string text = ids.text(*misfit);
      fail(part, {static_cast<std::int64_t>(*misfit), column.name,
                  text.empty() ? "an empty value" : "not a whole number of 64 bits",
                  text.empty() ? "" : fmt::format("'{}'", text), "a whole number", ""});
    }
    return values;
  }

  std::string id_column_;
  std::vector<std::string> files_;
  std::vector<core::FileVersion> versions_;  // of the files that were opened
  core::RunContext& context_;
  std::vector<data::ColumnInfo> columns_;
  std::vector<WantedColumn> wanted_;
  std::unique_ptr<RecordSource> source_;
  std::size_t file_ = 0;
  std::int64_t rows_before_ = 0;
  std::int64_t lines_before_ = 0;
};

}  // namespace

std::unique_ptr<data::BatchSource> open_batches(const std::string& path, const std::vector<std::string>& names,
                                                const std::vector<data::ColumnType>& types, core::RunContext& context,
                                                const std::string& id_column) {
  return std::make_unique<FileBatches>(path, names, types, id_column, context);
}

data::ColumnType id_type_in(const std::string& path, const std::string& column) {
  const auto source = open_records(input_files(path).front(), 1);
  source->select({{column, ParseAs::text}});
  if (!source->is_text_file()) {
    const auto type = source->schema()->GetFieldByName(column)->type()->id();
    if (type == arrow::Type::UINT64) return data::ColumnType::uint64;
    return arrow::is_integer(type) ? data::ColumnType::int64 : data::ColumnType::text;
  }
  const auto part = source->next();
  if (!part) return data::ColumnType::text;
  const Decoded decoded = source->decode(*part);
  if (decoded.bad) return data::ColumnType::text;  // reported with its place when it is read
  return ids_of(*decoded.batch->column(0), Letters::may_be_numbers).type();
}

void release_read_memory() {
  arrow::default_memory_pool()->ReleaseUnused();
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

std::vector<std::string> column_names(const std::string& path) {
  return open_records(input_files(path).front(), 1)->schema()->field_names();
}

}  // namespace dfcl::io
