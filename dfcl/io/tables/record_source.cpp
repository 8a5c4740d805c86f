// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/record_source.h"

#include <arrow/memory_pool.h>
#include <arrow/util/utf8.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <unordered_set>

#include "dfcl/core/suggest.h"
#include "dfcl/io/tables/file_format.h"
#include "dfcl/io/tables/memory_table.h"

namespace dfcl::io {
namespace {

// A part is small, but compression can be strong: a damaged length may not ask for more than this.
std::int64_t memory_cap(std::uint64_t file_bytes) {
  constexpr std::uint64_t kFloor = std::uint64_t{1} << 30;
  constexpr std::uint64_t kCeiling = std::uint64_t{1} << 40;
  return static_cast<std::int64_t>(kFloor + 16 * std::min(file_bytes, kCeiling));
}

core::Error changed_error(const std::string& path) {
  return core::file_error(path, "the file was changed while it was read", 0, "wait until it is written, and run again");
}

}  // namespace

RecordSource::RecordSource(std::string path, const TableFormat& format) : path_(std::move(path)), format_(format) {
  if (!is_memory_table(path_)) {
    file_ = std::make_shared<core::Descriptor>(core::open_file(path_, O_RDONLY));
    if (!*file_) throw core::file_error(path_, "cannot read", errno);
    version_ = core::version_of(file_->number(), path_);
    file_bytes_ = version_.bytes;
  }
  pool_ = std::make_unique<arrow::CappedMemoryPool>(
      arrow::default_memory_pool(), arrow::default_memory_pool()->bytes_allocated() + memory_cap(file_bytes_));
}

std::shared_ptr<BlockingFile> RecordSource::open_file() const {
  return std::make_shared<BlockingFile>(file_, file_bytes_, pool());
}

void RecordSource::require_unchanged() const {
  if (file_ != nullptr && core::version_of(file_->number(), path_) != version_) throw changed_error(path_);
}

void RecordSource::set_schema(std::shared_ptr<arrow::Schema> schema) {
  if (schema->num_fields() == 0)
    throw core::Error({.kind = core::ErrorKind::data, .what = "a table without columns", .where = path_});
  std::unordered_set<std::string> seen;
  arrow::util::InitializeUTF8();
  for (const auto& field : schema->fields()) {
    if (!arrow::util::ValidateUTF8(field->name())) {
      throw core::Error({.kind = core::ErrorKind::data,
                         .what = "a column name that is not UTF-8",
                         .where = path_,
                         .found = fmt::format("'{}'", field->name()),
                         .hint = "save the table as UTF-8"});
    }
    if (!seen.insert(field->name()).second) {
      throw core::Error({.kind = core::ErrorKind::data,
                         .what = "duplicated column name",
                         .where = path_,
                         .found = fmt::format("'{}' twice", field->name()),
                         .hint = "every column needs a name of its own"});
    }
  }
  schema_ = std::move(schema);
}

std::vector<int> RecordSource::indices_of(const std::vector<WantedColumn>& wanted) const {
  std::vector<int> indices;
  for (const WantedColumn& column : wanted) {
    const int index = schema_->GetFieldIndex(column.name);
    if (index < 0) {
      throw core::Error({.kind = core::ErrorKind::data,
                         .what = fmt::format("no column '{}'", column.name),
                         .where = path_,
                         .hint = core::suggest(column.name, schema_->field_names())});
    }
    indices.push_back(index);
  }
  return indices;
}

core::Error RecordSource::error_of(const BadRow& bad, const Part& part, std::int64_t rows_before,
                                   std::int64_t lines_before) const {
  std::string where = location(part, bad.row, rows_before, lines_before);
  if (!bad.column.empty()) where += fmt::format(", column '{}'", bad.column);
  return core::Error({.kind = core::ErrorKind::data,
                      .what = bad.what,
                      .where = where,
                      .found = bad.found,
                      .expected = bad.expected,
                      .hint = bad.hint});
}

std::string RecordSource::location(const Part& part, std::int64_t row, std::int64_t rows_before,
                                   std::int64_t lines_before) const {
  if (part.text == nullptr) return fmt::format("{}, row {}", path_, rows_before + row + 1);
  return fmt::format("{}:{}", path_, line_of(part, row, lines_before));
}

void require_same_file(const core::FileVersion& before, const RecordSource& now) {
  if (before != now.version()) throw changed_error(now.path());
}

std::uint64_t bytes_of(const std::string& file) { return is_memory_table(file) ? 0 : std::filesystem::file_size(file); }

std::unique_ptr<RecordSource> open_records(const std::string& path, int threads) {
  if (auto in_memory = open_memory_records(path)) return in_memory;
  return format_of_contents(path).open(path, threads);
}

}  // namespace dfcl::io
