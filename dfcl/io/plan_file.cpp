// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/plan_file.h"

#include <algorithm>
#include <charconv>

#include "dfcl/io/table_writer.h"

namespace dfcl::io {
namespace {

constexpr std::size_t kPieceUnits = 65'536;

data::ColumnValues ids_of_units(const data::Ids& ids, std::size_t begin, std::size_t end, bool numbered) {
  if (numbered) {
    std::vector<std::int64_t> numbers;
    numbers.reserve(end - begin);
    for (std::size_t unit = begin; unit < end; ++unit) numbers.push_back(ids.number(unit));
    return numbers;
  }
  data::TextColumn texts;
  for (std::size_t unit = begin; unit < end; ++unit) texts.push_back(ids.text(unit));
  return texts;
}

}  // namespace

PlanWriter::PlanWriter(const std::string& path, bool numbered, const data::Provenance& provenance) : numbered_(numbered) {
  using data::ColumnType;
  const std::vector<data::ColumnInfo> columns = {{"id", numbered ? ColumnType::int64 : ColumnType::text},
                                                 {"arm", ColumnType::text},
                                                 {"revenue", ColumnType::float32},
                                                 {"cost", ColumnType::float32}};
  writer_ = std::make_unique<TableWriter>(path, columns, provenance);
}

PlanWriter::~PlanWriter() = default;

void PlanWriter::write(const data::Plan& piece) {
  for (std::size_t begin = 0; begin < piece.num_units(); begin += kPieceUnits) {
    const std::size_t end = std::min(piece.num_units(), begin + kPieceUnits);
    data::Batch batch;
    batch.num_rows = end - begin;
    data::TextColumn labels;
    for (std::size_t unit = begin; unit < end; ++unit) labels.push_back(piece.arms[piece.arm[unit]]);
    const auto slice = [&](const std::vector<float>& values) {
      return std::vector<float>(values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end));
    };
    batch.columns = {ids_of_units(piece.ids, begin, end, numbered_), std::move(labels), slice(piece.revenue), slice(piece.cost)};
    writer_->write(batch);
  }
}

void PlanWriter::commit(const std::vector<std::pair<std::string, std::string>>& figures) { writer_->commit(figures); }

}  // namespace dfcl::io
