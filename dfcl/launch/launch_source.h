// SPDX-License-Identifier: Apache-2.0
//
// Predictions as a stream, with the launch drawn: every held-out or explored unit may get its own arm only. What was
// open to a unit before stands beside it as open_<arm>. For plans over more units than fit into memory. Memory: one
// batch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/data/batch.h"
#include "dfcl/launch/launch_design.h"

namespace dfcl::launch {

class LaunchSource final : public data::BatchSource {
 public:
  // source: float32 columns revenue_<arm>, cost_<arm> and maybe eligible_<arm>; last, maybe, `id`.
  LaunchSource(std::unique_ptr<data::BatchSource> source, const std::vector<std::string>& arms, LaunchDesign design);

  const std::vector<data::ColumnInfo>& columns() const override { return columns_; }
  bool next(data::Batch& batch) override;
  void rewind() override;

  // Adds roles to a piece of the plan whose batch came from this source and whose ids and arms are known.
  void append_roles(const data::Batch& batch, const allocate::Rules& rules, double multiplier, data::Plan& piece) const;

 private:
  std::unique_ptr<data::BatchSource> source_;
  LaunchDesign design_;
  std::size_t num_arms_;
  std::vector<std::size_t> revenue_;  // columns of the inner source, and of this one
  std::vector<std::size_t> cost_;
  std::vector<std::size_t> eligible_;  // of the inner source; its number of columns where there is none
  std::size_t num_inner_;              // columns of the inner source without `id`
  bool has_id_;
  std::vector<data::ColumnInfo> columns_;  // inner revenue, cost and eligible; then eligible, open, id
  std::size_t rows_ = 0;
};

}  // namespace dfcl::launch
