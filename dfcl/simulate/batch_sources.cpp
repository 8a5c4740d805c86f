// SPDX-License-Identifier: Apache-2.0
#include "dfcl/simulate/batch_sources.h"

#include <algorithm>
#include <utility>

namespace dfcl::simulate {
namespace {

class SimulatedSource final : public data::BatchSource {
 public:
  SimulatedSource(const Simulator& simulator, data::Batch SimulatedRows::*part,
                  const std::vector<data::ColumnInfo>& columns, std::size_t batch_rows)
      : simulator_(simulator), part_(part), columns_(columns), batch_rows_(batch_rows) {}

  const std::vector<data::ColumnInfo>& columns() const override { return columns_; }

  bool next(data::Batch& batch) override {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(batch_rows_, simulator_.num_rows() - next_row_));
    if (count == 0) return false;
    SimulatedRows rows = simulator_.make_rows(next_row_, count);
    batch = std::move(rows.*part_);
    next_row_ += count;
    return true;
  }

  void rewind() override { next_row_ = 0; }

 private:
  const Simulator& simulator_;
  data::Batch SimulatedRows::*part_;
  const std::vector<data::ColumnInfo>& columns_;
  std::size_t batch_rows_;
  std::uint64_t next_row_ = 0;
};

}  // namespace

std::unique_ptr<data::BatchSource> trial_source(const Simulator& simulator, std::size_t batch_rows) {
  return std::make_unique<SimulatedSource>(simulator, &SimulatedRows::trial, simulator.trial_columns(), batch_rows);
}

std::unique_ptr<data::BatchSource> truth_source(const Simulator& simulator, std::size_t batch_rows) {
  return std::make_unique<SimulatedSource>(simulator, &SimulatedRows::truth, simulator.truth_columns(), batch_rows);
}

}  // namespace dfcl::simulate
