// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/prediction_fingerprint.h"

#include <algorithm>
#include <bit>

#include "dfcl/core/hash.h"
#include "dfcl/core/parallel.h"
#include "dfcl/data/id_hashes.h"

namespace dfcl::data {
namespace {

std::uint64_t hash_arms(const std::vector<std::string>& arms) {
  std::uint64_t hash = 0;
  for (const std::string& arm : arms) hash = core::hash_text(arm, hash);
  return hash;
}
std::uint64_t add_hash(std::uint64_t hash, float value) {
  return core::mix_bits(hash ^ std::bit_cast<std::uint32_t>(value));
}

}  // namespace

std::uint64_t fingerprint_of(const Prediction& prediction, core::RunContext& context) {
  const std::uint64_t sum = core::sum_chunks(
      context, prediction.num_units(), 16'384, std::uint64_t{0},
      [&](std::size_t begin, std::size_t end) {
        std::uint64_t part = 0;
        std::vector<std::uint64_t> hashes(end - begin);
        fill_hashes(prediction.ids, begin, hashes);
        for (std::size_t unit = begin; unit < end; ++unit) {
          std::uint64_t hash = hashes[unit - begin];
          for (const float value : prediction.revenue.row(unit)) hash = add_hash(hash, value);
          for (const float value : prediction.cost.row(unit)) hash = add_hash(hash, value);
          part += hash;
        }
        return part;
      },
      [](std::uint64_t& total, std::uint64_t part) { total += part; });
  return core::combine_hashes(hash_arms(prediction.arms.labels), sum);
}

Ids ids_of_batch(const Batch& batch, std::size_t id_column, std::size_t first_unit) {
  if (id_column >= batch.columns.size()) return RowNumbers{first_unit + 1, batch.num_rows};
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&batch.columns[id_column])) return *numbers;
  if (const auto* numbers = std::get_if<std::vector<std::uint64_t>>(&batch.columns[id_column])) return *numbers;
  return std::get<TextColumn>(batch.columns[id_column]);
}

FingerprintedSource::FingerprintedSource(std::unique_ptr<BatchSource> source, const std::vector<std::string>& arms)
    : source_(std::move(source)), seed_(hash_arms(arms)) {
  const auto place = [&](const std::string& name) {
    const auto& infos = source_->columns();
    return static_cast<std::size_t>(
        std::find_if(infos.begin(), infos.end(), [&](const ColumnInfo& info) { return info.name == name; }) -
        infos.begin());
  };
  for (const std::string& arm : arms) numbers_.push_back(place("revenue_" + arm));
  for (const std::string& arm : arms) numbers_.push_back(place("cost_" + arm));
  id_ = place("id");
}

bool FingerprintedSource::next(Batch& batch) {
  if (!source_->next(batch)) {
    if (!done_) fingerprint_ = core::combine_hashes(seed_, sum_);
    done_ = true;
    return false;
  }
  if (done_) return true;
  const Ids ids = ids_of_batch(batch, id_, rows_);
  for (std::size_t row = 0; row < batch.num_rows; ++row) {
    std::uint64_t hash = ids.hash(row);
    for (const std::size_t column : numbers_)
      hash = add_hash(hash, std::get<std::vector<float>>(batch.columns[column])[row]);
    sum_ += hash;
  }
  rows_ += batch.num_rows;
  return true;
}

void FingerprintedSource::rewind() {
  source_->rewind();
  if (done_) return;
  rows_ = 0;
  sum_ = 0;
}

}  // namespace dfcl::data
