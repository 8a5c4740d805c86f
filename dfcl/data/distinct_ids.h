// SPDX-License-Identifier: Apache-2.0
//
// Every unit has an id, and no two have the same: what plans need, because ties, hold-outs and the joining of outcomes
// go by id. Hashes are dealt into buckets and sorted: about 30 ns a unit on one thread, 8 bytes a unit while it runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/batch.h"
#include "dfcl/data/ids.h"

namespace dfcl::data {

// The hash of each id; none for row numbers.
std::vector<std::uint64_t> id_keys(const Ids& ids, core::RunContext& context);

// Throws Error of kind data that names the id and `where`.
void require_distinct(const Ids& ids, const std::string& where, core::RunContext& context);

// Passes a source on; the first pass from start to end checks the ids, which takes 8 bytes a unit until it is over.
// Without a column `id` there is nothing to check.
class DistinctIdsSource final : public BatchSource {
 public:
  DistinctIdsSource(std::unique_ptr<BatchSource> source, std::string where, core::RunContext& context);

  const std::vector<ColumnInfo>& columns() const override { return source_->columns(); }
  bool next(Batch& batch) override;
  void rewind() override;
  // The id of a unit by its place, read again from the start: for messages.
  std::string id_of(std::size_t unit);
  bool has_ids() const { return id_column_ < source_->columns().size(); }
  // The ids of a batch that starts with this unit.
  Ids ids_of(const Batch& batch, std::size_t first_unit) const;

 private:
  std::unique_ptr<BatchSource> source_;
  std::string where_;
  core::RunContext& context_;
  std::size_t id_column_;
  std::vector<std::uint64_t> keys_;
  bool checked_ = false;
};

}  // namespace dfcl::data
