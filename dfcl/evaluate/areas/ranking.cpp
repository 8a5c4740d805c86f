// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/areas/ranking.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "dfcl/core/parallel.h"

namespace dfcl::evaluate {
namespace {

constexpr std::size_t kParts = 16;  // the same for any number of threads
constexpr int kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
constexpr int kFirstShift = 31;  // three passes sort by the upper 33 bits; what is equal there is sorted apart

struct Ranked {
  std::uint64_t key;  // rises as the score falls
  std::uint32_t row;
};

std::uint64_t falling_key(double score) {
  const auto bits = std::bit_cast<std::uint64_t>(score + 0.0);  // one zero only
  const std::uint64_t rising = (bits >> 63) != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
  return ~rising;
}

using Histogram = std::array<std::uint32_t, kDigits>;

// One stable pass by a digit. Returns false, and moves nothing, where all rows have the same digit.
bool sort_by_digit(int shift, std::vector<Ranked>& from, std::vector<Ranked>& to, std::vector<Histogram>& histograms,
                   core::RunContext& context) {
  const std::size_t size = from.size();
  const auto digit_of = [shift](const Ranked& row) { return (row.key >> shift) & (kDigits - 1); };
  context.pool.run(kParts, [&](std::size_t part) {
    histograms[part].fill(0);
    const std::size_t end = size * (part + 1) / kParts;
    for (std::size_t i = size * part / kParts; i < end; ++i) ++histograms[part][digit_of(from[i])];
  });
  std::uint32_t before = 0;
  for (std::size_t digit = 0; digit < kDigits; ++digit) {
    const std::uint32_t first = before;
    for (Histogram& histogram : histograms) {
      const std::uint32_t count = histogram[digit];
      histogram[digit] = before;
      before += count;
    }
    if (first == 0 && before == size) return false;
  }
  context.pool.run(kParts, [&](std::size_t part) {
    const std::size_t end = size * (part + 1) / kParts;
    for (std::size_t i = size * part / kParts; i < end; ++i) to[histograms[part][digit_of(from[i])]++] = from[i];
  });
  return true;
}

// Rows are in the order of their upper bits: sorts each run of equal ones by the whole key.
void sort_runs(std::vector<Ranked>& rows) {
  const auto smaller = [](const Ranked& a, const Ranked& b) { return a.key < b.key; };
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin + 1;
    while (end < rows.size() && (rows[end].key >> kFirstShift) == (rows[begin].key >> kFirstShift)) ++end;
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = rows.begin() + static_cast<std::ptrdiff_t>(end);
    if (end - begin == 2) {
      if (smaller(first[1], first[0])) std::swap(first[0], first[1]);
    } else if (end - begin > 2 && !std::is_sorted(first, last, smaller)) {
      std::stable_sort(first, last, smaller);
    }
    begin = end;
  }
}

}  // namespace

std::vector<std::uint32_t> order_falling(std::span<const double> scores, std::span<const std::uint32_t> rows,
                                         core::RunContext& context) {
  const std::size_t size = rows.empty() ? scores.size() : rows.size();
  std::vector<Ranked> ranked(size);
  core::for_each_chunk(context, size, 65'536, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t row = rows.empty() ? static_cast<std::uint32_t>(i) : rows[i];
      ranked[i] = {falling_key(scores[row]), row};
    }
  });
  constexpr std::size_t kFew = 4096;
  if (size <= kFew) {
    std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) { return a.key < b.key; });
  } else {
    std::vector<Ranked> other(size);
    std::vector<Histogram> histograms(kParts);
    for (int shift = kFirstShift; shift < 64; shift += kDigitBits) {
      if (sort_by_digit(shift, ranked, other, histograms, context)) std::swap(ranked, other);
    }
    sort_runs(ranked);
  }
  std::vector<std::uint32_t> order(size);
  for (std::size_t i = 0; i < size; ++i) order[i] = ranked[i].row;
  return order;
}

std::string_view to_text(Ranking ranking) { return ranking == Ranking::angle ? "angle" : "published"; }

double rank_score(double extra_revenue, double extra_cost, Ranking ranking) {
  if (ranking == Ranking::angle) return std::atan2(extra_revenue + 0.0, extra_cost + 0.0);
  constexpr double kFloor = 1e-6;
  const double floored = std::copysign(std::max(std::abs(extra_cost), kFloor), extra_cost + 0.0);
  return extra_revenue / floored;
}

}  // namespace dfcl::evaluate
