// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/launch_source.h"

#include <algorithm>
#include <utility>

#include "dfcl/data/prediction_fingerprint.h"

namespace dfcl::launch {

LaunchSource::LaunchSource(std::unique_ptr<data::BatchSource> source, const std::vector<std::string>& arms,
                           LaunchDesign design)
    : source_(std::move(source)), design_(std::move(design)), num_arms_(arms.size()) {
  const std::vector<data::ColumnInfo>& inner = source_->columns();
  has_id_ = inner.back().name == "id";
  num_inner_ = inner.size() - (has_id_ ? 1 : 0);
  const auto place = [&](const std::string& name) {
    return static_cast<std::size_t>(
        std::find_if(inner.begin(), inner.end(), [&](const data::ColumnInfo& info) { return info.name == name; }) -
        inner.begin());
  };
  for (const std::string& arm : arms) {
    revenue_.push_back(place("revenue_" + arm));
    cost_.push_back(place("cost_" + arm));
    eligible_.push_back(place("eligible_" + arm));
  }
  columns_.assign(inner.begin(), inner.begin() + static_cast<std::ptrdiff_t>(num_inner_));
  // The inner columns of eligibility are not looked at any more: those that follow take their names.
  for (const std::size_t column : eligible_) {
    if (column < num_inner_) columns_[column].name = "(" + columns_[column].name + ")";
  }
  for (const std::string& arm : arms) columns_.push_back({"eligible_" + arm, data::ColumnType::float32});
  for (const std::string& arm : arms) columns_.push_back({"open_" + arm, data::ColumnType::float32});
  if (has_id_) columns_.push_back(inner.back());
}

bool LaunchSource::next(data::Batch& batch) {
  if (!source_->next(batch)) return false;
  const data::Ids ids = data::ids_of_batch(batch, has_id_ ? num_inner_ : batch.columns.size(), rows_);
  std::vector<std::vector<float>> open(num_arms_, std::vector<float>(batch.num_rows, 1.0f));
  for (std::size_t arm = 0; arm < num_arms_; ++arm) {
    if (eligible_[arm] < num_inner_) open[arm] = std::get<std::vector<float>>(batch.columns[eligible_[arm]]);
  }
  std::vector<std::vector<float>> masked = open;
  std::vector<std::uint8_t> row(num_arms_);
  for (std::size_t unit = 0; unit < batch.num_rows; ++unit) {
    for (std::size_t arm = 0; arm < num_arms_; ++arm) row[arm] = open[arm][unit] != 0.0f ? 1 : 0;
    const DrawnRole drawn = draw_role(design_, ids, unit, row, num_arms_);
    if (drawn.role == data::Role::plan) continue;
    for (std::size_t arm = 0; arm < num_arms_; ++arm) masked[arm][unit] = arm == drawn.arm ? 1.0f : 0.0f;
  }
  rows_ += batch.num_rows;
  data::ColumnValues id_column;
  if (has_id_) {
    id_column = std::move(batch.columns.back());
    batch.columns.pop_back();
  }
  for (std::vector<float>& column : masked) batch.columns.emplace_back(std::move(column));
  for (std::vector<float>& column : open) batch.columns.emplace_back(std::move(column));
  if (has_id_) batch.columns.push_back(std::move(id_column));
  return true;
}

void LaunchSource::rewind() {
  source_->rewind();
  rows_ = 0;
}

void LaunchSource::append_roles(const data::Batch& batch, const allocate::Rules& rules, double multiplier,
                                data::Plan& piece) const {
  std::vector<float> revenue(num_arms_);
  std::vector<float> cost(num_arms_);
  std::vector<std::uint8_t> open(num_arms_);
  const auto value = [&](std::size_t column, std::size_t unit) {
    return std::get<std::vector<float>>(batch.columns[column])[unit];
  };
  for (std::size_t unit = 0; unit < batch.num_rows; ++unit) {
    for (std::size_t arm = 0; arm < num_arms_; ++arm) {
      revenue[arm] = value(revenue_[arm], unit);
      cost[arm] = value(cost_[arm], unit);
      open[arm] = value(num_inner_ + num_arms_ + arm, unit) != 0.0f ? 1 : 0;
    }
    append_role(design_, unit, {revenue, cost, open}, rules, {.multiplier = multiplier}, piece);
  }
}

}  // namespace dfcl::launch
