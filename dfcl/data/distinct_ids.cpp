// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/distinct_ids.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/error.h"
#include "dfcl/core/parallel.h"
#include "dfcl/data/prediction_fingerprint.h"

namespace dfcl::data {
namespace {

constexpr std::size_t kBuckets = 1024;

// Each key to its bucket, in place: what stands where it belongs to another bucket is handed on until the circle
// closes.
void deal(std::vector<std::uint64_t>& keys, const std::vector<std::size_t>& ends, int shift) {
  std::vector<std::size_t> next(ends.begin(), ends.end() - 1);
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    while (next[bucket] < ends[bucket + 1]) {
      std::uint64_t key = keys[next[bucket]];
      for (std::size_t home = key >> shift; home != bucket; home = key >> shift) std::swap(key, keys[next[home]++]);
      keys[next[bucket]++] = key;
    }
  }
}

// The hashes that stand more than once; they change places.
std::vector<std::uint64_t> repeated(std::vector<std::uint64_t>& keys, core::RunContext& context) {
  constexpr int kShift = 54;
  std::vector<std::size_t> ends(kBuckets + 1);
  for (const std::uint64_t key : keys) ++ends[(key >> kShift) + 1];
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) ends[bucket + 1] += ends[bucket];
  deal(keys, ends, kShift);
  std::vector<std::vector<std::uint64_t>> found(kBuckets);
  context.pool.run(kBuckets, [&](std::size_t bucket) {
    const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(ends[bucket]);
    const auto end = keys.begin() + static_cast<std::ptrdiff_t>(ends[bucket + 1]);
    std::sort(begin, end);
    for (auto key = begin; key != end && key + 1 != end; ++key) {
      if (*key == *(key + 1)) found[bucket].push_back(*key);
    }
  });
  std::vector<std::uint64_t> all;
  for (const auto& bucket : found) all.insert(all.end(), bucket.begin(), bucket.end());
  return all;
}

constexpr std::size_t kMostOfOneHash = 8;  // more are not looked at

// ids_of: some units' ids of one hash. Different ids of one hash are none of the user's business. The keys change
// places.
void refuse_repeated(std::vector<std::uint64_t>& keys,
                     const std::function<std::vector<std::string>(std::uint64_t)>& ids_of, const std::string& where,
                     core::RunContext& context) {
  for (const std::uint64_t key : repeated(keys, context)) {
    std::vector<std::string> ids = ids_of(key);
    std::sort(ids.begin(), ids.end());
    const auto twice = std::adjacent_find(ids.begin(), ids.end());
    if (twice == ids.end()) continue;
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = fmt::format("the id '{}' stands twice", *twice),
                       .where = where,
                       .expected = "one row per unit",
                       .hint = "remove repeated rows, or make ids of their own for them"});
  }
}

void add_ids_of(std::uint64_t hash, const Ids& ids, std::vector<std::string>& found) {
  for (std::size_t unit = 0; unit < ids.size() && found.size() < kMostOfOneHash; ++unit) {
    if (ids.hash(unit) == hash) found.push_back(ids.text(unit));
  }
}

void refuse_missing(const Ids& ids, std::size_t first_unit, const std::string& where) {
  if (ids.texts() == nullptr) return;
  for (std::size_t unit = 0; unit < ids.size(); ++unit) {
    if (!(*ids.texts())[unit].empty()) continue;
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = "a unit without an id",
                       .where = fmt::format("{}, row {}", where, first_unit + unit + 1),
                       .expected = "an id for every unit"});
  }
}

}  // namespace

std::vector<std::uint64_t> id_keys(const Ids& ids, core::RunContext& context) {
  if (ids.are_row_numbers()) return {};
  std::vector<std::uint64_t> keys(ids.size());
  core::for_each_chunk(context, keys.size(), 65'536, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t unit = begin; unit < end; ++unit) keys[unit] = ids.hash(unit);
  });
  return keys;
}

void require_distinct(const Ids& ids, const std::string& where, core::RunContext& context) {
  if (ids.are_row_numbers()) return;
  refuse_missing(ids, 0, where);
  std::vector<std::uint64_t> keys = id_keys(ids, context);
  const auto ids_of = [&](std::uint64_t hash) {
    std::vector<std::string> found;
    add_ids_of(hash, ids, found);
    return found;
  };
  refuse_repeated(keys, ids_of, where, context);
}

DistinctIdsSource::DistinctIdsSource(std::unique_ptr<BatchSource> source, std::string where, core::RunContext& context)
    : source_(std::move(source)), where_(std::move(where)), context_(context) {
  const auto& infos = source_->columns();
  id_column_ = static_cast<std::size_t>(
      std::find_if(infos.begin(), infos.end(), [](const ColumnInfo& info) { return info.name == "id"; }) -
      infos.begin());
}

Ids DistinctIdsSource::ids_of(const Batch& batch, std::size_t first_unit) const {
  return ids_of_batch(batch, id_column_, first_unit);
}

bool DistinctIdsSource::next(Batch& batch) {
  if (source_->next(batch)) {
    if (checked_ || !has_ids()) return true;
    const Ids ids = ids_of(batch, keys_.size());
    refuse_missing(ids, keys_.size(), where_);
    for (std::size_t row = 0; row < batch.num_rows; ++row) keys_.push_back(ids.hash(row));
    return true;
  }
  if (!checked_) {
    const auto ids_of_hash = [&](std::uint64_t hash) {
      std::vector<std::string> found;
      source_->rewind();
      Batch again;
      while (source_->next(again)) add_ids_of(hash, ids_of(again, 0), found);
      return found;
    };
    refuse_repeated(keys_, ids_of_hash, where_, context_);
    keys_ = {};
    checked_ = true;
  }
  return false;
}

void DistinctIdsSource::rewind() {
  source_->rewind();
  if (!checked_) keys_.clear();
}

std::string DistinctIdsSource::id_of(std::size_t unit) {
  source_->rewind();
  Batch batch;
  for (std::size_t first = 0; source_->next(batch); first += batch.num_rows) {
    if (unit < first + batch.num_rows) return ids_of(batch, first).text(unit - first);
  }
  return std::to_string(unit + 1);
}

}  // namespace dfcl::data
