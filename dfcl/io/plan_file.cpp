// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/plan_file.h"

#include <cstdint>

#include "dfcl/io/table_writer.h"

namespace dfcl::io {
namespace {

constexpr std::size_t kPieceUnits = 65'536;

data::Batch empty_batch(bool numbered) {
  data::ColumnValues ids = data::TextColumn{};
  if (numbered) ids = std::vector<std::int64_t>{};
  return {0, {std::move(ids), data::TextColumn{}, std::vector<float>{}, std::vector<float>{}}};
}

}  // namespace

PlanWriter::PlanWriter(const std::string& path, bool numbered, const data::Provenance& provenance)
    : numbered_(numbered), pending_(empty_batch(numbered)) {
  using data::ColumnType;
  const std::vector<data::ColumnInfo> columns = {{"id", numbered ? ColumnType::int64 : ColumnType::text},
                                                 {"arm", ColumnType::text},
                                                 {"revenue", ColumnType::float32},
                                                 {"cost", ColumnType::float32}};
  writer_ = std::make_unique<TableWriter>(path, columns, provenance);
}

PlanWriter::~PlanWriter() = default;

void PlanWriter::append(const data::Plan& piece, std::size_t unit) {
  if (numbered_) {
    std::get<std::vector<std::int64_t>>(pending_.columns[0]).push_back(piece.ids.number(unit));
  } else {
    std::get<data::TextColumn>(pending_.columns[0]).push_back(piece.ids.text(unit));
  }
  std::get<data::TextColumn>(pending_.columns[1]).push_back(piece.arms[piece.arm[unit]]);
  std::get<std::vector<float>>(pending_.columns[2]).push_back(piece.revenue[unit]);
  std::get<std::vector<float>>(pending_.columns[3]).push_back(piece.cost[unit]);
  ++pending_.num_rows;
}

void PlanWriter::flush() {
  writer_->write(pending_);
  pending_ = empty_batch(numbered_);
}

void PlanWriter::write(const data::Plan& piece) {
  for (std::size_t unit = 0; unit < piece.num_units(); ++unit) {
    append(piece, unit);
    if (pending_.num_rows == kPieceUnits) flush();
  }
}

void PlanWriter::commit(const std::vector<std::pair<std::string, std::string>>& figures) {
  if (pending_.num_rows > 0) flush();
  writer_->commit(figures);
}

}  // namespace dfcl::io
