// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/passes.h"

#include <algorithm>
#include <mutex>

#include "dfcl/core/parallel.h"

namespace dfcl::allocate {
namespace {

constexpr std::size_t kChunkUnits = 8192;

// The first increments of the path from a place on, from any thread in any order: the set does not depend on it. Keeps
// at most twice as many as asked for.
class FirstIncrements {
 public:
  explicit FirstIncrements(std::size_t at_most) : at_most_(at_most) {}

  void offer(std::vector<Increment>& increments) {
    const std::lock_guard lock(mutex_);
    for (const Increment& increment : increments) {
      if (!dropped_ || before(increment, limit_)) kept_.push_back(increment);
    }
    increments.clear();
    if (kept_.size() >= 2 * at_most_ + 1024) prune();
  }
  // Sorted; true where nothing lies beyond them.
  bool finish(std::vector<Increment>& sorted, core::RunContext& context) {
    prune();
    sort_path(kept_, context);
    sorted = std::move(kept_);
    return !dropped_;
  }

 private:
  void prune() {
    if (kept_.size() <= at_most_) return;
    const auto nth = kept_.begin() + static_cast<std::ptrdiff_t>(at_most_);
    std::nth_element(kept_.begin(), nth, kept_.end(), before);
    limit_ = *nth;
    dropped_ = true;
    kept_.erase(nth, kept_.end());
  }

  std::mutex mutex_;
  std::size_t at_most_;
  std::vector<Increment> kept_;
  Increment limit_{};  // increments from here on were dropped
  bool dropped_ = false;
};

struct Part {
  Totals before;
  Totals control;
};

void gather_rows(const Units& units, std::size_t begin, std::size_t end, const Rules& rules, const Prices& prices,
                 PathPosition from, Part& part, FirstIncrements& following) {
  Hull hull;
  std::vector<Increment> found;
  for (std::size_t row = begin; row < end; ++row) {
    build_hull(units, row, prices.least_efficiency, hull);
    const std::size_t unit = units.first_unit + row;
    const std::size_t points = points_before(hull, unit, from);
    part.before.add(hull.points[points - 1].cost, hull.points[points - 1].revenue);
    add_control(units, row, rules.control, part.control);
    for (std::size_t point = points; point < hull.size; ++point) found.push_back(increment_of(hull, point, unit));
    if (found.size() >= 4096) following.offer(found);
  }
  following.offer(found);
}

}  // namespace

void sort_path(std::vector<Increment>& increments, core::RunContext& context) {
  constexpr std::size_t kFew = 10'000;
  if (increments.size() <= kFew) {
    std::sort(increments.begin(), increments.end(), before);
    return;
  }
  // Dealt into buckets of equal width between the ends, which are then sorted apart.
  const auto key_of = [](const Increment& increment) {
    return static_cast<std::uint64_t>(position_of(increment) >> 32);
  };
  std::uint64_t first = key_of(increments[0]);
  std::uint64_t last = first;
  for (const Increment& increment : increments) {
    first = std::min(first, key_of(increment));
    last = std::max(last, key_of(increment));
  }
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

Gathered gather(UnitPieces& pieces, const Rules& rules, const GatherRequest& request, core::RunContext& context) {
  const Prices prices(rules);
  Gathered result;
  std::vector<Part> parts(1);
  FirstIncrements following(request.at_most);
  pieces.for_each([&](const Units& units) {
    result.num_units += units.size();
    if (units.size() <= kChunkUnits) {  // less work than waking threads; the sums are exact, so parts change nothing
      gather_rows(units, 0, units.size(), rules, prices, request.from, parts[0], following);
      return;
    }
    parts.resize(kParts);
    context.pool.run(kParts, [&](std::size_t part) {
      context.check_cancelled();
      gather_rows(units, part_begin(units.size(), part), part_begin(units.size(), part + 1), rules, prices,
                  request.from, parts[part], following);
    });
  });
  for (const Part& part : parts) {
    result.window.before.add(part.before);
    result.control.add(part.control);
  }
  result.window.reaches_end = following.finish(result.window.increments, context);
  return result;
}

void assign(const Units& units, const Rules& rules, const PathPlan& plan, std::uint8_t* arms,
            core::RunContext& context) {
  const Prices prices(rules);
  core::for_each_chunk(context, units.size(), kChunkUnits, [&](std::size_t begin, std::size_t end, std::size_t) {
    Hull hull;
    for (std::size_t row = begin; row < end; ++row) {
      build_hull(units, row, prices.least_efficiency, hull);
      const std::size_t unit = units.first_unit + row;
      arms[row] = hull.points[points_before(hull, unit, plan.cut) - 1].arm;
      if (plan.filled.empty()) continue;
      const auto found = plan.filled.find(static_cast<std::uint32_t>(unit));
      if (found != plan.filled.end()) arms[row] = found->second;
    }
  });
}

}  // namespace dfcl::allocate
