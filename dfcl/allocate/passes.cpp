// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/passes.h"

#include <algorithm>
#include <bit>
#include <mutex>

#include "dfcl/allocate/settle.h"
#include "dfcl/core/parallel.h"

namespace dfcl::allocate {
namespace {

constexpr std::size_t kChunkUnits = 8192;

// Calls body(part, begin, end) over the rows of a piece: a few of them are less work than waking threads.
template <class Body>
void for_each_part(const Units& units, core::RunContext& context, Body&& body) {
  if (units.size() <= kChunkUnits) {
    body(std::size_t{0}, std::size_t{0}, units.size());
    return;
  }
  context.pool.run(kParts, [&](std::size_t part) {
    context.check_cancelled();
    body(part, part_begin(units.size(), part), part_begin(units.size(), part + 1));
  });
}

}  // namespace

void sort_path(std::vector<Increment>& increments, core::RunContext& context) {
  constexpr std::size_t kFew = 10'000;
  if (increments.size() <= kFew) {
    std::sort(increments.begin(), increments.end(), before);
    return;
  }
  // Dealt into buckets of equal width between the ends, which are then sorted apart. Where all are equally efficient
  // the keys are dealt instead.
  const auto efficiency_of = [](const Increment& increment) {
    return static_cast<std::uint64_t>(position_of(increment) >> 64);
  };
  std::uint64_t first = efficiency_of(increments[0]);
  std::uint64_t last = first;
  for (const Increment& increment : increments) {
    first = std::min(first, efficiency_of(increment));
    last = std::max(last, efficiency_of(increment));
  }
  const bool by_key = first == last;
  std::uint64_t last_key = 0;
  if (by_key) {
    first = increments[0].key;
    for (const Increment& increment : increments) {
      first = std::min(first, increment.key);
      last_key = std::max(last_key, increment.key);
    }
    last = last_key;
  }
  const auto key_of = [&](const Increment& increment) { return by_key ? increment.key : efficiency_of(increment); };
  const std::size_t num_buckets = std::min<std::size_t>(65'536, increments.size() / 64);
  const double per_key = static_cast<double>(num_buckets) / (static_cast<double>(last - first) + 1.0);
  const auto bucket_of = [&](const Increment& increment) {  // never falls as the key rises
    const auto bucket = static_cast<std::size_t>(static_cast<double>(key_of(increment) - first) * per_key);
    return std::min(bucket, num_buckets - 1);
  };
  std::vector<std::size_t> ends(num_buckets + 1);
  for (const Increment& increment : increments) ++ends[bucket_of(increment) + 1];
  for (std::size_t bucket = 0; bucket < num_buckets; ++bucket) ends[bucket + 1] += ends[bucket];
  std::vector<Increment> dealt(increments.size());
  for (const Increment& increment : increments) dealt[ends[bucket_of(increment)]++] = increment;
  core::for_each_chunk(context, num_buckets, 64, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t bucket = begin; bucket < end; ++bucket) {
      const std::size_t from = bucket == 0 ? 0 : ends[bucket - 1];
      std::sort(dealt.begin() + static_cast<std::ptrdiff_t>(from),
                dealt.begin() + static_cast<std::ptrdiff_t>(ends[bucket]), before);
    }
  });
  increments = std::move(dealt);
}

void PathEnds::add(const PathEnds& other) {
  least.add(other.least);
  most.add(other.most);
  most_at_any_return.add(other.most_at_any_return);
  control.add(other.control);
  absolute_cost += other.absolute_cost;
  num_units += other.num_units;
}

PathEnds path_ends(UnitPieces& pieces, const Rules& rules, core::RunContext& context) {
  const Prices prices(rules);
  std::vector<PathEnds> parts(kParts);
  pieces.for_each([&](const Units& units, const data::Batch*) {
    for_each_part(units, context, [&](std::size_t part, std::size_t begin, std::size_t end) {
      Hull hull;
      for (std::size_t row = begin; row < end; ++row) {
        build_hull(units, row, prices, hull);
        parts[part].add(units, row, hull, rules.control);
      }
    });
  });
  for (std::size_t part = 1; part < kParts; ++part) parts[0].add(parts[part]);
  return parts[0];
}

WholePath sort_whole_path(UnitPieces& pieces, const Rules& rules, core::RunContext& context) {
  const Prices prices(rules);
  std::vector<WholePath> parts(kParts);
  WholePath whole;
  pieces.for_each([&](const Units& units, const data::Batch*) {
    for_each_part(units, context, [&](std::size_t part, std::size_t begin, std::size_t end) {
      Hull hull;
      for (std::size_t row = begin; row < end; ++row) {
        build_hull(units, row, prices, hull);
        parts[part].ends.add(units, row, hull, rules.control);
        for (std::size_t point = 1; point < hull.size; ++point) {
          parts[part].increments.push_back(increment_of(hull, point, units.first_unit + row, units.key(row)));
        }
      }
    });
  });
  std::size_t size = 0;
  for (const WholePath& part : parts) size += part.increments.size();
  whole.increments.reserve(size);
  for (WholePath& part : parts) {
    whole.ends.add(part.ends);
    whole.increments.insert(whole.increments.end(), part.increments.begin(), part.increments.end());
    part.increments = {};
  }
  sort_path(whole.increments, context);
  return whole;
}

void assign(const Units& units, const Rules& rules, const PathCut& cut, std::uint8_t* arms, core::RunContext& context) {
  assign_before(units, Prices(rules), cut.position, arms, context);
  for (const auto& [unit, arm] : cut.filled) {
    if (unit >= units.first_unit && unit < units.first_unit + units.size()) arms[unit - units.first_unit] = arm.to;
  }
}

}  // namespace dfcl::allocate
