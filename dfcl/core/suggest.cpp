// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/suggest.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <vector>

namespace dfcl::core {
namespace {

// Nobody mistypes longer ones; comparing them would take time and memory by the product of the lengths.
constexpr std::size_t kLongestName = 200;

char lower(char letter) { return static_cast<char>(std::tolower(static_cast<unsigned char>(letter))); }

// Insertions, deletions, substitutions and swaps of neighbours, each counted as one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) table[i][0] = i;
  std::iota(table[0].begin(), table[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table[a.size()][b.size()];
}

}  // namespace

std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
  std::size_t best = std::max<std::size_t>(1, name.size() / 3) + 1;
  std::string nearest;
  for (const std::string& candidate : candidates) {
    // Names whose lengths differ by more than `best` are further apart than that.
    const std::size_t lengths_apart = std::max(name.size(), candidate.size()) - std::min(name.size(), candidate.size());
    if (lengths_apart >= best || candidate.size() > kLongestName) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best && distance < candidate.size()) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string suggest(std::string_view name, std::span<const std::string> candidates) {
  const std::string nearest = nearest_name(name, candidates);
  if (!nearest.empty()) return "did you mean '" + nearest + "'?";
  constexpr std::size_t kMostNames = 12;
  std::string text = "one of: ";
  for (std::size_t i = 0; i < std::min(candidates.size(), kMostNames); ++i) {
    text += (i == 0 ? "" : ", ") + candidates[i];
  }
  if (candidates.size() > kMostNames) text += ", ... (" + std::to_string(candidates.size()) + " in all)";
  return text;
}

}  // namespace dfcl::core
