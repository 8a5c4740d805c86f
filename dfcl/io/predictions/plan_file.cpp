// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/predictions/plan_file.h"

#include "dfcl/io/predictions/id_column.h"
#include "dfcl/io/tables/table_writer.h"

namespace dfcl::io {
namespace {

constexpr std::size_t kPlanPiece = 65'536;

}  // namespace

PlanWriter::PlanWriter(const std::string& path, const data::Plan& first, const data::Provenance& provenance)
    : path_(path),
      id_type_(first.ids.type()),
      with_roles_(first.has_roles()),
      extra_(first.extra.columns),
      pending_(empty_batch()) {
  using data::ColumnType;
  std::vector<data::ColumnInfo> columns = {
      {"id", id_type_}, {"arm", ColumnType::text}, {"revenue", ColumnType::float32}, {"cost", ColumnType::float32}};
  if (with_roles_) {
    columns.push_back({"role", ColumnType::text});
    for (const char* name : {"propensity", "control_revenue", "control_cost"})
      columns.push_back({name, ColumnType::float32});
  }
  columns.insert(columns.end(), extra_.begin(), extra_.end());
  writer_ = std::make_unique<TableWriter>(path, columns, provenance);
}

PlanWriter::~PlanWriter() = default;

data::Batch PlanWriter::empty_batch() const {
  data::Batch batch{0, {data::empty_values(id_type_), data::TextColumn{}, std::vector<float>{}, std::vector<float>{}}};
  if (with_roles_) {
    batch.columns.emplace_back(data::TextColumn{});
    for (int i = 0; i < 3; ++i) batch.columns.emplace_back(std::vector<float>{});
  }
  for (const data::ColumnInfo& column : extra_) batch.columns.push_back(data::empty_values(column.type));
  return batch;
}

void PlanWriter::append(const data::Plan& piece, std::size_t unit) {
  const auto add = [&](std::size_t column, float number) {
    std::get<std::vector<float>>(pending_.columns[column]).push_back(number);
  };
  append_id_column(piece.ids, unit, unit + 1, pending_.columns[0], path_);
  std::get<data::TextColumn>(pending_.columns[1]).push_back(piece.arms[piece.arm[unit]]);
  add(2, piece.revenue[unit]);
  add(3, piece.cost[unit]);
  if (with_roles_) {
    std::get<data::TextColumn>(pending_.columns[4])
        .push_back(data::kRoleNames[static_cast<std::size_t>(piece.role[unit])]);
    add(5, piece.propensity[unit]);
    add(6, piece.control_revenue[unit]);
    add(7, piece.control_cost[unit]);
  }
  const std::size_t first = pending_.columns.size() - extra_.size();
  for (std::size_t column = 0; column < extra_.size(); ++column)
    data::append_rows(piece.extra.values[column], unit, unit + 1, pending_.columns[first + column]);
  ++pending_.num_rows;
}

void PlanWriter::flush() {
  writer_->write(pending_);
  pending_ = empty_batch();
}

void PlanWriter::write(const data::Plan& piece) {
  for (std::size_t unit = 0; unit < piece.num_units(); ++unit) {
    append(piece, unit);
    if (pending_.num_rows == kPlanPiece) flush();
  }
}

void PlanWriter::commit(const std::vector<std::pair<std::string, std::string>>& figures) {
  if (pending_.num_rows > 0) flush();
  writer_->commit(figures);
}

}  // namespace dfcl::io
