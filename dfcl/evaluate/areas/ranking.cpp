// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/areas/ranking.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

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
bool sort_by_digit(int shift, std::span<const Ranked> from, Ranked* to, std::vector<Histogram>& histograms,
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
void sort_runs(std::span<Ranked> rows, core::RunContext& context) {
  const auto smaller = [](const Ranked& a, const Ranked& b) { return a.key < b.key; };
  const auto starts_run = [&](std::size_t i) {
    return i == 0 || i >= rows.size() || (rows[i].key >> kFirstShift) != (rows[i - 1].key >> kFirstShift);
  };
  context.pool.run(kParts, [&](std::size_t part) {
    std::size_t begin = rows.size() * part / kParts;
    const std::size_t last = rows.size() * (part + 1) / kParts;
    while (!starts_run(begin)) ++begin;
    while (begin < last) {  // a run belongs to the part where it starts
      std::size_t end = begin + 1;
      while (!starts_run(end)) ++end;
      const auto first = rows.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto past = rows.begin() + static_cast<std::ptrdiff_t>(end);
      if (end - begin == 2) {
        if (smaller(first[1], first[0])) std::swap(first[0], first[1]);
      } else if (end - begin > 2 && !std::is_sorted(first, past, smaller)) {
        std::stable_sort(first, past, smaller);
      }
      begin = end;
    }
  });
}

}  // namespace

std::vector<std::uint32_t> order_falling(std::span<const double> scores, std::span<const std::uint32_t> rows,
                                         core::RunContext& context) {
  const std::size_t size = rows.empty() ? scores.size() : rows.size();
  auto ranked = std::make_unique_for_overwrite<Ranked[]>(size);
  core::for_each_chunk(context, size, 65'536, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t row = rows.empty() ? static_cast<std::uint32_t>(i) : rows[i];
      ranked[i] = {falling_key(scores[row]), row};
    }
  });
  constexpr std::size_t kFew = 4096;
  if (size <= kFew) {
    std::stable_sort(ranked.get(), ranked.get() + size, [](const Ranked& a, const Ranked& b) { return a.key < b.key; });
  } else {
    auto other = std::make_unique_for_overwrite<Ranked[]>(size);
    std::vector<Histogram> histograms(kParts);
    for (int shift = kFirstShift; shift < 64; shift += kDigitBits) {
      if (sort_by_digit(shift, {ranked.get(), size}, other.get(), histograms, context)) std::swap(ranked, other);
    }
    sort_runs({ranked.get(), size}, context);
  }
  std::vector<std::uint32_t> order(size);
  core::for_each_chunk(context, size, 65'536, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) order[i] = ranked[i].row;
  });
  return order;
}

std::vector<std::uint32_t> rows_at_places(std::span<const double> scores, std::span<const std::size_t> places,
                                          core::RunContext& context) {
  constexpr int kBucketBits = 14;
  const std::size_t size = scores.size();
  const auto first_of = [size](std::size_t part) { return size * part / kParts; };
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ends(kParts);  // least and largest key
  context.pool.run(kParts, [&](std::size_t part) {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t most = 0;
    for (std::size_t row = first_of(part); row < first_of(part + 1); ++row) {
      const std::uint64_t key = falling_key(scores[row]);
      least = std::min(least, key);
      most = std::max(most, key);
    }
    ends[part] = {least, most};
  });
  std::uint64_t least = ends[0].first;
  std::uint64_t most = ends[0].second;
  for (const auto& [low, high] : ends) {
    least = std::min(least, low);
    most = std::max(most, high);
  }
  const int shift = std::max(0, static_cast<int>(std::bit_width(most - least)) - kBucketBits);
  const auto bucket_of = [&](double score) { return (falling_key(score) - least) >> shift; };
  std::vector<std::vector<std::uint32_t>> counts(kParts);
  context.pool.run(kParts, [&](std::size_t part) {
    counts[part].resize(std::size_t{1} << kBucketBits);
    for (std::size_t row = first_of(part); row < first_of(part + 1); ++row) ++counts[part][bucket_of(scores[row])];
  });
  struct Wanted {
    std::size_t slot;
    std::size_t place;  // in the bucket
  };
  struct Bucket {  // one that holds a wanted place; its members in the order of the rows
    std::size_t size;
    std::vector<std::size_t> begin_of_part;
    std::unique_ptr<Ranked[]> members;
  };
  constexpr std::uint8_t kNone = 255;
  std::vector<Wanted> wanted;
  std::vector<Bucket> buckets;
  std::vector<std::uint8_t> slot_of(std::size_t{1} << kBucketBits, kNone);
  std::size_t before = 0;
  for (std::size_t bucket = 0; bucket < slot_of.size() && wanted.size() < places.size(); ++bucket) {
    std::vector<std::size_t> begin_of_part(kParts);
    std::size_t count = 0;
    for (std::size_t part = 0; part < kParts; ++part) {
      begin_of_part[part] = count;
      count += counts[part][bucket];
    }
    if (places[wanted.size()] < before + count) {
      slot_of[bucket] = static_cast<std::uint8_t>(buckets.size());
      buckets.push_back({count, std::move(begin_of_part), std::make_unique_for_overwrite<Ranked[]>(count)});
    }
    while (wanted.size() < places.size() && places[wanted.size()] < before + count)
      wanted.push_back({buckets.size() - 1, places[wanted.size()] - before});
    before += count;
  }
  context.pool.run(kParts, [&](std::size_t part) {
    std::vector<std::size_t> next;
    for (const Bucket& bucket : buckets) next.push_back(bucket.begin_of_part[part]);
    for (std::size_t row = first_of(part); row < first_of(part + 1); ++row) {
      const std::uint8_t slot = slot_of[bucket_of(scores[row])];
      if (slot != kNone)
        buckets[slot].members[next[slot]++] = {falling_key(scores[row]), static_cast<std::uint32_t>(row)};
    }
  });
  std::vector<std::uint32_t> rows(wanted.size());
  context.pool.run(buckets.size(), [&](std::size_t slot) {
    Ranked* const end = buckets[slot].members.get() + buckets[slot].size;
    Ranked* begin = buckets[slot].members.get();  // what is before it is smaller than all places that are left
    for (std::size_t index = 0; index < wanted.size(); ++index) {
      if (wanted[index].slot != slot) continue;
      Ranked* const at = buckets[slot].members.get() + wanted[index].place;
      std::nth_element(begin, at, end,
                       [](const Ranked& a, const Ranked& b) { return a.key != b.key ? a.key < b.key : a.row < b.row; });
      rows[index] = at->row;
      begin = at;
    }
  });
  return rows;
}

std::string_view to_text(Ranking ranking) { return ranking == Ranking::angle ? "angle" : "published"; }

double rank_score(double extra_revenue, double extra_cost, Ranking ranking) {
  if (ranking == Ranking::angle) return std::atan2(extra_revenue + 0.0, extra_cost + 0.0);
  constexpr double kFloor = 1e-6;
  const double floored = std::copysign(std::max(std::abs(extra_cost), kFloor), extra_cost + 0.0);
  return extra_revenue / floored;
}

}  // namespace dfcl::evaluate
