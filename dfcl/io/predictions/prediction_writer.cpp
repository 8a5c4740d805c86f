// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/predictions/prediction_writer.h"

#include <algorithm>
#include <cstdint>

#include "dfcl/data/prediction_facts.h"
#include "dfcl/io/predictions/id_column.h"
#include "dfcl/io/tables/table_writer.h"

namespace dfcl::io {
namespace {

constexpr std::size_t kPieceUnits = 65'536;

data::Batch empty_batch(data::ColumnType id_type, std::size_t num_arms, const std::vector<data::ColumnInfo>& extra) {
  data::Batch batch;
  batch.columns.push_back(data::empty_values(id_type));
  for (std::size_t column = 0; column < 2 * num_arms; ++column) batch.columns.emplace_back(std::vector<float>{});
  for (const data::ColumnInfo& column : extra) batch.columns.push_back(data::empty_values(column.type));
  return batch;
}

}  // namespace

PredictionWriter::PredictionWriter(const std::string& path, const data::PredictionFacts& facts,
                                   data::ColumnType id_type, const data::Provenance& provenance,
                                   std::vector<data::ColumnInfo> extra)
    : path_(path),
      id_type_(id_type),
      num_arms_(facts.arms.size()),
      extra_(std::move(extra)),
      pending_(empty_batch(id_type, facts.arms.size(), extra_)) {
  using data::ColumnType;
  std::vector<data::ColumnInfo> columns = {{"id", id_type}};
  for (const std::string& arm : facts.arms.labels) columns.push_back({"revenue_" + arm, ColumnType::float32});
  for (const std::string& arm : facts.arms.labels) columns.push_back({"cost_" + arm, ColumnType::float32});
  columns.insert(columns.end(), extra_.begin(), extra_.end());
  writer_ = std::make_unique<TableWriter>(path, columns, data::with_facts(provenance, facts), Values::seldom_repeat);
}

PredictionWriter::~PredictionWriter() = default;

void PredictionWriter::flush() {
  writer_->write(pending_);
  pending_ = empty_batch(id_type_, num_arms_, extra_);
}

void PredictionWriter::write(const data::Prediction& piece) {
  for (std::size_t begin = 0; begin < piece.num_units();) {
    const std::size_t end = std::min(piece.num_units(), begin + kPieceUnits - pending_.num_rows);
    append_id_column(piece.ids, begin, end, pending_.columns[0], path_);
    for (std::size_t arm = 0; arm < num_arms_; ++arm) {
      auto& revenue = std::get<std::vector<float>>(pending_.columns[1 + arm]);
      auto& cost = std::get<std::vector<float>>(pending_.columns[1 + num_arms_ + arm]);
      for (std::size_t unit = begin; unit < end; ++unit) revenue.push_back(piece.revenue(unit, arm));
      for (std::size_t unit = begin; unit < end; ++unit) cost.push_back(piece.cost(unit, arm));
    }
    for (std::size_t column = 0; column < extra_.size(); ++column)
      data::append_rows(piece.extra.values[column], begin, end, pending_.columns[1 + 2 * num_arms_ + column]);
    pending_.num_rows += end - begin;
    begin = end;
    if (pending_.num_rows == kPieceUnits) flush();
  }
}

void PredictionWriter::commit() {
  if (pending_.num_rows > 0) flush();
  writer_->commit();
}

}  // namespace dfcl::io
