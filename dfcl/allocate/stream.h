// SPDX-License-Identifier: Apache-2.0
//
// The batches of a source as units x arms: how PlanPath reads predictions that are larger than memory. Memory: one
// batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/allocate/passes.h"
#include "dfcl/data/batch.h"

namespace dfcl::allocate {

class StreamedUnits final : public UnitPieces {
 public:
  // Throws Error of kind data where a column is missing. The source must outlive this.
  StreamedUnits(data::BatchSource& source, const std::vector<std::string>& arms, core::RunContext& context);

  std::size_t num_arms() const override { return num_arms_; }
  void for_each(const Body& body) override;

 private:
  std::optional<std::size_t> find(const std::string& name, bool required) const;
  Units convert(const data::Batch& batch, std::size_t first_unit);
  template <class T>
  void copy_column(const data::Batch& batch, std::size_t column, std::size_t arm, core::Matrix<T>& matrix) const;

  data::BatchSource& source_;
  core::RunContext& context_;
  std::size_t num_arms_;
  std::vector<std::size_t> revenue_columns_, cost_columns_;   // per arm
  std::vector<std::optional<std::size_t>> eligible_columns_;  // per arm
  std::optional<std::size_t> id_column_;
  bool any_eligibility_ = false;
  core::Matrix<float> revenue_, cost_;
  core::Matrix<std::uint8_t> eligible_;
  std::vector<std::uint64_t> keys_;
};

}  // namespace dfcl::allocate
