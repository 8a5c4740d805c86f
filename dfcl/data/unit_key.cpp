// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/unit_key.h"

#include <algorithm>
#include <tuple>

#include "dfcl/core/hash.h"

namespace dfcl::data {

std::uint64_t unit_key(const Trial& trial, std::size_t row) {
  const std::uint64_t id = trial.ids.hash(row);
  return trial.has_time() ? core::combine_hashes(id, core::hash_text(trial.times[trial.time[row]])) : id;
}

void sort_by_key(const Trial& trial, std::vector<KeyedRow>& rows) {
  const auto outcome = [&](std::size_t row) { return std::tuple(trial.arm[row], trial.revenue[row], trial.cost[row]); };
  std::stable_sort(rows.begin(), rows.end(), [&](const KeyedRow& a, const KeyedRow& b) {
    return a.key != b.key ? a.key < b.key : outcome(a.row) < outcome(b.row);
  });
}

std::uint64_t group_key(const Trial& trial, std::size_t row) {
  if (!trial.has_clusters()) return unit_key(trial, row);
  const std::uint32_t cluster = trial.cluster[row];
  return trial.cluster_key.empty() ? core::mix_bits(cluster) : trial.cluster_key[cluster];
}

}  // namespace dfcl::data
