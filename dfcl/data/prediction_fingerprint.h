// SPDX-License-Identifier: Apache-2.0
//
// A fingerprint of a prediction that is the same whether it is held in memory or streamed, whatever the batches and the
// order of the units: of its arms, and the sum over units of a hash of id, revenues and costs. Where units have no ids,
// their row numbers stand for them. One pass.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/batch.h"
#include "dfcl/data/prediction.h"

namespace dfcl::data {

std::uint64_t fingerprint_of(const Prediction& prediction, core::RunContext& context);

// The ids of a batch: of its column, or the row numbers where id_column is beyond the last.
Ids ids_of_batch(const Batch& batch, std::size_t id_column, std::size_t first_unit);

// Passes a source on and fingerprints it during the first pass from start to end. The source has float32 columns
// revenue_<arm> and cost_<arm> for every arm and may have a column `id` of texts or whole numbers.
class FingerprintedSource : public BatchSource {
 public:
  FingerprintedSource(std::unique_ptr<BatchSource> source, const std::vector<std::string>& arms);

  const std::vector<ColumnInfo>& columns() const override { return source_->columns(); }
  bool next(Batch& batch) override;
  void rewind() override;
  // Known after the first whole pass.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  std::unique_ptr<BatchSource> source_;
  std::uint64_t seed_;                // of the arms
  std::vector<std::size_t> numbers_;  // columns, revenues first
  std::size_t id_;                    // column, or the number of columns where there is none
  std::size_t rows_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t fingerprint_ = 0;
  bool done_ = false;
};

}  // namespace dfcl::data
