// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/duplicates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "dfcl/core/column.h"
#include "dfcl/core/parallel.h"
#include "dfcl/data/unit_key.h"

namespace dfcl::check {
namespace {

using HashedRow = std::pair<std::uint64_t, std::uint32_t>;

constexpr std::size_t kExamples = 3;

bool same_key(const data::Trial& trial, std::size_t a, std::size_t b) {
  if (trial.has_time() && trial.time[a] != trial.time[b]) return false;
  if (const auto* numbers = trial.ids.numbers()) return (*numbers)[a] == (*numbers)[b];
  return trial.ids.text(a) == trial.ids.text(b);
}

// The hashes that occur more than once, each once, in rising order.
std::vector<std::uint64_t> repeated_hashes(const data::Trial& trial, core::RunContext& context) {
  core::Column<std::uint64_t> hashes(context.scratch());
  hashes.resize(trial.num_units());
  core::for_each_chunk(context, hashes.size(), 65'536, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t row = begin; row < end; ++row) hashes[row] = data::unit_key(trial, row);
  });
  std::sort(hashes.begin(), hashes.end());
  std::vector<std::uint64_t> repeated;
  for (std::size_t i = 1; i < hashes.size(); ++i) {
    if (hashes[i] == hashes[i - 1] && (repeated.empty() || repeated.back() != hashes[i])) repeated.push_back(hashes[i]);
  }
  return repeated;
}

std::vector<HashedRow> rows_of(const data::Trial& trial, const std::vector<std::uint64_t>& repeated,
                               core::RunContext& context) {
  std::vector<HashedRow> rows = core::sum_chunks(
      context, trial.num_units(), 262'144, std::vector<HashedRow>{},
      [&](std::size_t begin, std::size_t end) {
        std::vector<HashedRow> part;
        for (std::size_t row = begin; row < end; ++row) {
          const std::uint64_t hash = data::unit_key(trial, row);
          if (std::binary_search(repeated.begin(), repeated.end(), hash)) {
            part.emplace_back(hash, static_cast<std::uint32_t>(row));
          }
        }
        return part;
      },
      [](std::vector<HashedRow>& total, const std::vector<HashedRow>& part) {
        total.insert(total.end(), part.begin(), part.end());
      });
  std::sort(rows.begin(), rows.end());
  return rows;
}

// Rows [begin, end) share a hash; keys that differ all the same are told apart, the first key first.
void count_run(const data::Trial& trial, std::vector<HashedRow>::iterator begin, std::vector<HashedRow>::iterator end,
               Duplicates& result, std::vector<std::uint32_t>& first_rows) {
  while (begin != end) {
    const std::size_t first = begin->second;
    const auto others =
        std::stable_partition(begin, end, [&](const HashedRow& row) { return same_key(trial, first, row.second); });
    if (others - begin > 1) {
      ++result.num_ids;
      result.num_rows += static_cast<std::size_t>(others - begin - 1);
      const bool two_arms =
          std::any_of(begin, others, [&](const HashedRow& row) { return trial.arm[row.second] != trial.arm[first]; });
      result.num_in_two_arms += two_arms ? 1 : 0;
      first_rows.push_back(static_cast<std::uint32_t>(first));
    }
    begin = others;
  }
}

}  // namespace

Duplicates find_duplicates(const data::Trial& trial, core::RunContext& context) {
  Duplicates result;
  if (trial.ids.are_row_numbers()) return result;
  result.key = trial.has_time() ? "id and time" : "id";
  const std::vector<std::uint64_t> repeated = repeated_hashes(trial, context);
  if (repeated.empty()) return result;
  std::vector<HashedRow> rows = rows_of(trial, repeated, context);
  std::vector<std::uint32_t> first_rows;
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end = std::find_if(begin, rows.end(), [&](const HashedRow& row) { return row.first != begin->first; });
    count_run(trial, begin, end, result, first_rows);
    begin = end;
  }
  // The examples are the first in the file.
  const std::size_t shown = std::min(kExamples, first_rows.size());
  std::partial_sort(first_rows.begin(), first_rows.begin() + static_cast<std::ptrdiff_t>(shown), first_rows.end());
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t row = first_rows[i];
    result.examples.push_back(trial.has_time()
                                  ? fmt::format("{} at {}", trial.ids.text(row), trial.times[trial.time[row]])
                                  : trial.ids.text(row));
  }
  return result;
}

}  // namespace dfcl::check
