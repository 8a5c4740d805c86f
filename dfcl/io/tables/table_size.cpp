// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/table_size.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "dfcl/io/tables/file_format.h"
#include "dfcl/io/tables/record_source.h"

namespace dfcl::io {
namespace {

constexpr double kMostBytesOfValue = 8.0;  // of a number as a file holds it

// What the parts of the first block say: the first part of a text file, the first batch of an Arrow file.
struct FirstBlock {
  double rows = 0.0;
  double part_rows = 0.0;
  double text_bytes = 0.0;
  double file_bytes = 0.0;
};

FirstBlock read_first_block(RecordSource& source) {
  FirstBlock block;
  while (const std::optional<Part> part = source.next()) {
    const auto bytes = static_cast<double>(source.bytes_read());
    if (block.rows > 0.0 && (bytes > block.file_bytes || source.num_rows())) break;
    const std::int64_t rows = part->text != nullptr
                                  ? std::count(part->text->data(), part->text->data() + part->text->size(), '\n')
                              : part->batch != nullptr ? part->batch->num_rows()
                                                       : part->num_rows;
    block.rows += static_cast<double>(rows) + (part->text != nullptr ? 1.0 : 0.0);  // the last line may lack its end
    block.part_rows = std::max(block.part_rows, static_cast<double>(rows));
    if (part->text != nullptr) block.text_bytes = std::max(block.text_bytes, static_cast<double>(part->text->size()));
    block.file_bytes = bytes;
  }
  return block;
}

}  // namespace

double TableSize::reading_bytes(int threads, double bytes_per_value) const {
  if (part_rows <= 0.0) return held_bytes;
  const double parts = std::min(static_cast<double>(threads), std::ceil(rows / part_rows));
  return held_bytes + parts * (text_bytes + part_rows * columns * bytes_per_value);
}

TableSize table_size(const std::string& path, const std::vector<std::string>& columns) {
  TableSize size;
  double rows_per_byte = 0.0;
  for (const std::string& file : input_files(path)) {
    const std::unique_ptr<RecordSource> source = open_records(file, 1);
    const auto bytes = static_cast<double>(source->file_bytes());
    if (size.part_rows == 0.0) {
      std::vector<WantedColumn> wanted;
      for (const std::string& name : columns.empty() ? source->schema()->field_names() : columns)
        wanted.push_back({name});
      size.columns = static_cast<double>(wanted.size());
      source->select(wanted);
      const FirstBlock block = read_first_block(*source);
      size.part_rows = block.part_rows;
      size.text_bytes = block.text_bytes;
      size.held_bytes = static_cast<double>(source->group_bytes());
      if (!source->is_text_file() && !source->num_rows())
        size.held_bytes = block.rows * size.columns * kMostBytesOfValue;
      rows_per_byte = block.rows / std::max(1.0, block.file_bytes);
    }
    const std::optional<std::int64_t> rows = source->num_rows();
    size.rows += rows ? static_cast<double>(*rows) : std::ceil(rows_per_byte * bytes);
  }
  return size;
}

}  // namespace dfcl::io
