// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/passes.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

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

DealtPath::DealtPath(std::span<std::vector<Increment>> parts, core::RunContext& context) {
  const std::vector<std::span<const Increment>> views(parts.begin(), parts.end());
  deal(views, context);
  for (std::vector<Increment>& part : parts) part = {};
}

// Every part counts what it has for each block, and so knows its own places in them: the order is that of the parts.
void DealtPath::deal(std::span<const std::span<const Increment>> parts, core::RunContext& context) {
  constexpr std::size_t kFew = 16'384;  // less work than waking threads
  for (const std::span<const Increment> part : parts) size_ += part.size();
  if (size_ == 0) return;
  const auto for_each_part = [&](auto&& body) {
    if (size_ <= kFew) {
      for (std::size_t part = 0; part < parts.size(); ++part) body(part);
    } else {
      context.pool.run(parts.size(), body);
    }
  };
  increments_ = std::make_unique_for_overwrite<Increment[]>(size_);
  // Blocks of equal width between the ends. Where all are equally efficient the keys are dealt instead.
  const auto efficiency_of = [](const Increment& increment) {
    return static_cast<std::uint64_t>(position_of(increment) >> 64);
  };
  const auto ends_of = [&](auto&& number_of) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ends(parts.size(), {static_cast<std::uint64_t>(-1), 0});
    for_each_part([&](std::size_t part) {
      auto [least, most] = ends[part];
      for (const Increment& increment : parts[part]) {
        least = std::min(least, number_of(increment));
        most = std::max(most, number_of(increment));
      }
      ends[part] = {least, most};
    });
    std::pair<std::uint64_t, std::uint64_t> all = ends.front();
    for (const auto& [least, most] : ends) all = {std::min(all.first, least), std::max(all.second, most)};
    return all;
  };
  auto [first, last] = ends_of(efficiency_of);
  const bool by_key = first == last;
  if (by_key) std::tie(first, last) = ends_of([](const Increment& increment) { return increment.key; });
  const std::size_t num_blocks = std::clamp<std::size_t>(size_ / 64, 1, 65'536);
  const double per_number = static_cast<double>(num_blocks) / (static_cast<double>(last - first) + 1.0);
  const auto block_of = [&, start = first](const Increment& increment) {  // never falls along the path
    const std::uint64_t number = by_key ? increment.key : efficiency_of(increment);
    return std::min(static_cast<std::size_t>(static_cast<double>(number - start) * per_number), num_blocks - 1);
  };
  std::vector<std::vector<std::size_t>> places(parts.size());
  for_each_part([&](std::size_t part) {
    places[part].resize(num_blocks);
    for (const Increment& increment : parts[part]) ++places[part][block_of(increment)];
  });
  ends_.resize(num_blocks);
  std::size_t begin = 0;
  for (std::size_t block = 0; block < num_blocks; ++block) {
    for (auto& part : places) begin += std::exchange(part[block], begin);
    ends_[block] = begin;
  }
  for_each_part([&](std::size_t part) {
    for (const Increment& increment : parts[part]) increments_[places[part][block_of(increment)]++] = increment;
  });
}

void DealtPath::sort(core::RunContext& context) {
  constexpr std::size_t kLarge = 16'384;
  // Units that are equally efficient, as those of constant predictions are, are dealt again, by key at last.
  const auto is_large = [&](std::span<Increment> part) { return part.size() > kLarge && part.size() < size_; };
  for (std::size_t index = 0; index < num_blocks(); ++index) {
    const std::span<Increment> part = block(index);
    if (!is_large(part)) continue;
    DealtPath inner;
    std::vector<std::span<const Increment>> views;
    for (std::size_t i = 0; i < kParts; ++i)
      views.push_back(
          part.subspan(part_begin(part.size(), i), part_begin(part.size(), i + 1) - part_begin(part.size(), i)));
    inner.deal(views, context);
    inner.sort(context);
    std::copy(inner.increments().begin(), inner.increments().end(), part.begin());
  }
  core::for_each_chunk(context, num_blocks(), 64, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t index = begin; index < end; ++index) {
      const std::span<Increment> part = block(index);
      if (!is_large(part)) std::sort(part.begin(), part.end(), before);
    }
  });
}

void PathEnds::add(const PathEnds& other) {
  least.add(other.least);
  most.add(other.most);
  below_least_return.add(other.below_least_return);
  control.add(other.control);
  below_zero.add(other.below_zero);
  num_units += other.num_units;
}

void PathEnds::save(core::ByteWriter& bytes, std::size_t num_arms) const {
  for (const Totals* totals : {&least, &most, &control, &below_least_return}) totals->save(bytes, num_arms);
  below_zero.save(bytes);
  bytes.write_count(num_units);
}

PathEnds PathEnds::load(core::ByteReader& bytes, std::size_t num_arms) {
  PathEnds ends;
  for (Totals* totals : {&ends.least, &ends.most, &ends.control, &ends.below_least_return}) {
    *totals = Totals::load(bytes, num_arms);
  }
  ends.below_zero = ExactSum::load(bytes);
  ends.num_units = bytes.read<std::uint64_t>();
  bytes.require(ends.num_units < 0x80000000u, "more units than 2^31");
  return ends;
}

void PathEndsBuilder::add(const Units& units, std::size_t row, const Hull& hull) {
  const HullPoint& least = hull.points[0];
  const HullPoint& most = hull.points[hull.size - 1];
  least_.cost[count_] = static_cast<float>(least.cost);
  least_.revenue[count_] = least.revenue;
  most_.cost[count_] = static_cast<float>(most.cost);
  most_.revenue[count_] = most.revenue;
  in_control_.cost[count_] = units.cost(row, control_);
  in_control_.revenue[count_] = units.revenue(row, control_);
  if (units.eligible.data != nullptr) check_control(units, row, control_);
  ++ends_.least.units[least.arm];
  ++ends_.most.units[most.arm];
  if (hull.size_at_any_return > hull.size) {
    const HullPoint& further = hull.points[hull.size_at_any_return - 1];
    ends_.below_least_return.add(further);
    ends_.below_least_return.cost.subtract(static_cast<float>(most.cost));
    ends_.below_least_return.revenue.subtract(most.revenue);
    --ends_.below_least_return.units[most.arm];
  }
  if (least.cost < 0.0) ends_.below_zero.add(static_cast<float>(least.cost));
  ++ends_.control.units[control_];
  ++ends_.num_units;
  if (++count_ == kTileUnits) finish();
}

void PathEndsBuilder::flush(const Numbers& numbers, Totals& totals) const {
  if (count_ == kTileUnits) {
    add_tile(numbers.cost, totals.cost);
    add_tile(numbers.revenue, totals.revenue);
    return;
  }
  for (std::size_t i = 0; i < count_; ++i) {
    totals.cost.add(numbers.cost[i]);
    totals.revenue.add(numbers.revenue[i]);
  }
}

const PathEnds& PathEndsBuilder::finish() {
  flush(least_, ends_.least);
  flush(most_, ends_.most);
  flush(in_control_, ends_.control);
  count_ = 0;
  return ends_;
}

PathEnds path_ends(UnitPieces& pieces, const Rules& rules, core::RunContext& context) {
  const Prices prices(rules);
  std::vector<PathEndsBuilder> parts(kParts, PathEndsBuilder(rules.control));
  pieces.for_each([&](const Units& units, const data::Batch*) {
    for_each_part(units, context, [&](std::size_t part, std::size_t begin, std::size_t end) {
      Hull hull;
      for (std::size_t row = begin; row < end; ++row) {
        build_hull(units, row, prices, hull);
        parts[part].add(units, row, hull);
      }
    });
  });
  PathEnds ends;
  for (PathEndsBuilder& part : parts) ends.add(part.finish());
  return ends;
}

WholePath sort_whole_path(UnitPieces& pieces, const Rules& rules, core::RunContext& context) {
  const Prices prices(rules);
  std::vector<PathEndsBuilder> ends(kParts, PathEndsBuilder(rules.control));
  std::vector<std::vector<Increment>> parts(kParts);
  pieces.for_each([&](const Units& units, const data::Batch*) {
    for_each_part(units, context, [&](std::size_t part, std::size_t begin, std::size_t end) {
      Hull hull;
      parts[part].reserve(parts[part].size() + (end - begin));
      for (std::size_t row = begin; row < end; ++row) {
        build_hull(units, row, prices, hull);
        ends[part].add(units, row, hull);
        for (std::size_t point = 1; point < hull.size; ++point) {
          parts[part].push_back(increment_of(hull, point, units.first_unit + row, units.key(row)));
        }
      }
    });
  });
  WholePath whole;
  for (PathEndsBuilder& part : ends) whole.ends.add(part.finish());
  whole.path = DealtPath(parts, context);
  whole.path.sort(context);
  return whole;
}

namespace {

constexpr std::uint64_t kCutLetters = 0x3174756370666364u;  // "dcfpcut1"

// One look at a table of bits passes over nearly all units.
void assign_filled(const Units& units, const PathCut& cut, std::uint8_t* arms) {
  constexpr std::size_t kBits = std::size_t{1} << 16;
  std::vector<bool> may_be(kBits);
  for (const auto& [key, arm] : cut.filled_by_key) may_be[key % kBits] = true;
  for (std::size_t row = 0; row < units.size(); ++row) {
    if (!may_be[units.key(row) % kBits]) continue;
    const auto found = cut.filled_by_key.find(units.key(row));
    if (found != cut.filled_by_key.end() && arms[row] == found->second.from) arms[row] = found->second.to;
  }
}

}  // namespace

std::string PathCut::to_bytes() const {
  std::vector<std::pair<std::uint64_t, FilledArm>> sorted(filled_by_key.begin(), filled_by_key.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  core::ByteWriter bytes;
  bytes.write(kCutLetters);
  bytes.write(position);
  bytes.write_count(sorted.size());
  for (const auto& [key, arm] : sorted) {
    bytes.write(key);
    bytes.write(arm.from);
    bytes.write(arm.to);
  }
  return std::move(bytes).seal();
}

PathCut PathCut::from_bytes(std::string_view text, std::size_t num_arms) {
  core::ByteReader bytes(text, "a cut of the path");
  bytes.unseal();
  bytes.require(bytes.read<std::uint64_t>() == kCutLetters, "these bytes are no cut of a path");
  PathCut cut;
  cut.position = bytes.read<PathPosition>();
  bytes.require(cut.position <= kPathEnd, "a position beyond the path");
  const std::size_t count = bytes.read_count(sizeof(std::uint64_t) + 2);
  for (std::size_t i = 0; i < count; ++i) {
    const auto key = bytes.read<std::uint64_t>();
    const auto from = bytes.read<std::uint8_t>();
    const auto to = bytes.read<std::uint8_t>();
    bytes.require(from < num_arms && to < num_arms, "an arm that is none");
    bytes.require(cut.filled_by_key.try_emplace(key, FilledArm{from, to}).second, "a unit that is filled twice");
  }
  bytes.end();
  return cut;
}

void assign(const Units& units, const Rules& rules, const PathCut& cut, std::uint8_t* arms, core::RunContext& context) {
  assign_before(units, Prices(rules), cut.position, arms, context);
  for (const auto& [unit, arm] : cut.filled) {
    if (unit >= units.first_unit && unit < units.first_unit + units.size()) arms[unit - units.first_unit] = arm.to;
  }
  if (!cut.filled_by_key.empty()) assign_filled(units, cut, arms);
}

}  // namespace dfcl::allocate
