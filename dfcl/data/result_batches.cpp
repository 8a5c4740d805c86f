// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/result_batches.h"

#include <algorithm>

namespace dfcl::data {
namespace {

constexpr std::size_t kPieceUnits = 65'536;

ColumnInfo id_column(const Ids& ids) { return {"id", ids.type()}; }

ColumnValues id_values(const Ids& ids, std::size_t begin, std::size_t end) {
  ColumnValues values = empty_values(ids.type());
  (void)append_ids(ids, begin, end, values);  // its own type holds them all
  return values;
}

void add_extra(const ExtraColumns& extra, std::size_t begin, std::size_t end, std::vector<ColumnValues>& columns) {
  for (std::size_t column = 0; column < extra.columns.size(); ++column) {
    columns.push_back(empty_values(extra.columns[column].type));
    append_rows(extra.values[column], begin, end, columns.back());
  }
}

// A value that knows the columns of its files, cut into pieces.
class Pieces : public BatchSource {
 public:
  Pieces(std::vector<ColumnInfo> columns, std::size_t num_units)
      : columns_(std::move(columns)), num_units_(num_units) {}

  const std::vector<ColumnInfo>& columns() const override { return columns_; }
  bool next(Batch& batch) override {
    if (next_ >= num_units_) return false;
    const std::size_t end = std::min(num_units_, next_ + kPieceUnits);
    batch.num_rows = end - next_;
    batch.columns.clear();
    fill(next_, end, batch.columns);
    next_ = end;
    return true;
  }
  void rewind() override { next_ = 0; }

 private:
  virtual void fill(std::size_t begin, std::size_t end, std::vector<ColumnValues>& columns) const = 0;

  std::vector<ColumnInfo> columns_;
  std::size_t num_units_;
  std::size_t next_ = 0;
};

class PredictionPieces final : public Pieces {
 public:
  explicit PredictionPieces(std::shared_ptr<const Prediction> prediction)
      : Pieces(columns_of(*prediction), prediction->num_units()), prediction_(std::move(prediction)) {}

 private:
  static std::vector<ColumnInfo> columns_of(const Prediction& prediction) {
    std::vector<ColumnInfo> columns = {id_column(prediction.ids)};
    for (const std::string& arm : prediction.arms.labels) columns.push_back({"revenue_" + arm, ColumnType::float32});
    for (const std::string& arm : prediction.arms.labels) columns.push_back({"cost_" + arm, ColumnType::float32});
    columns.insert(columns.end(), prediction.extra.columns.begin(), prediction.extra.columns.end());
    return columns;
  }
  void fill(std::size_t begin, std::size_t end, std::vector<ColumnValues>& columns) const override {
    columns.push_back(id_values(prediction_->ids, begin, end));
    for (const core::Matrix<float>* outcome : {&prediction_->revenue, &prediction_->cost}) {
      for (std::size_t arm = 0; arm < outcome->cols(); ++arm) {
        std::vector<float> values(end - begin);
        for (std::size_t unit = begin; unit < end; ++unit) values[unit - begin] = (*outcome)(unit, arm);
        columns.emplace_back(std::move(values));
      }
    }
    add_extra(prediction_->extra, begin, end, columns);
  }

  std::shared_ptr<const Prediction> prediction_;
};

class PlanPieces final : public Pieces {
 public:
  explicit PlanPieces(std::shared_ptr<const Plan> plan)
      : Pieces(columns_of(*plan), plan->num_units()), plan_(std::move(plan)) {}

 private:
  static std::vector<ColumnInfo> columns_of(const Plan& plan) {
    std::vector<ColumnInfo> columns = {id_column(plan.ids),
                                       {"arm", ColumnType::text},
                                       {"revenue", ColumnType::float32},
                                       {"cost", ColumnType::float32}};
    if (plan.has_roles()) {
      columns.push_back({"role", ColumnType::text});
      for (const char* name : {"propensity", "control_revenue", "control_cost"})
        columns.push_back({name, ColumnType::float32});
    }
    columns.insert(columns.end(), plan.extra.columns.begin(), plan.extra.columns.end());
    return columns;
  }
  void fill(std::size_t begin, std::size_t end, std::vector<ColumnValues>& columns) const override {
    const auto slice = [&](const std::vector<float>& values) {
      return std::vector<float>(values.begin() + static_cast<std::ptrdiff_t>(begin),
                                values.begin() + static_cast<std::ptrdiff_t>(end));
    };
    columns.push_back(id_values(plan_->ids, begin, end));
    TextColumn arms;
    for (std::size_t unit = begin; unit < end; ++unit) arms.push_back(plan_->arms[plan_->arm[unit]]);
    columns.emplace_back(std::move(arms));
    columns.emplace_back(slice(plan_->revenue));
    columns.emplace_back(slice(plan_->cost));
    if (plan_->has_roles()) {
      TextColumn roles;
      for (std::size_t unit = begin; unit < end; ++unit)
        roles.push_back(kRoleNames[static_cast<std::size_t>(plan_->role[unit])]);
      columns.emplace_back(std::move(roles));
      columns.emplace_back(slice(plan_->propensity));
      columns.emplace_back(slice(plan_->control_revenue));
      columns.emplace_back(slice(plan_->control_cost));
    }
    add_extra(plan_->extra, begin, end, columns);
  }

  std::shared_ptr<const Plan> plan_;
};

class TableBatches final : public BatchSource {
 public:
  explicit TableBatches(std::shared_ptr<const Table> table) : table_(std::move(table)) {}
  const std::vector<ColumnInfo>& columns() const override { return table_->columns; }
  bool next(Batch& batch) override {
    if (next_ >= table_->batches.size()) return false;
    batch = table_->batches[next_++];
    return true;
  }
  void rewind() override { next_ = 0; }

 private:
  std::shared_ptr<const Table> table_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<BatchSource> batches_of(std::shared_ptr<const Prediction> prediction) {
  return std::make_unique<PredictionPieces>(std::move(prediction));
}

std::unique_ptr<BatchSource> batches_of(std::shared_ptr<const Plan> plan) {
  return std::make_unique<PlanPieces>(std::move(plan));
}

std::unique_ptr<BatchSource> batches_of(std::shared_ptr<const Table> table) {
  return std::make_unique<TableBatches>(std::move(table));
}

}  // namespace dfcl::data
