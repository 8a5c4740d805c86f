// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/settle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "dfcl/allocate/settle_tile.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/parallel.h"

namespace dfcl::allocate {
namespace {

// Sums are exact and increments are sorted afterwards, so the number of parts does not show in the result.
constexpr std::size_t kSettleParts = 64;

struct Chunk {
  Totals before;
  Totals control;
  Totals least;
  std::vector<Increment> increments;
  // Units per arm, in four tables in turn, so that equal neighbours do not wait for each other.
  std::array<std::array<std::uint32_t, kMaxArms>, 4> counts{};

  void count_tile(const std::uint8_t* arms) {
    for (std::size_t i = 0; i < kTileUnits; i += 4) {
      for (std::size_t table = 0; table < 4; ++table) ++counts[table][arms[i + table]];
    }
  }
  void finish() {
    for (const auto& table : counts) {
      for (std::size_t arm = 0; arm < kMaxArms; ++arm) before.units[arm] += table[arm];
    }
  }
};

// Prices make the least spend a count of arms.
void add_least_arm(const Units& units, std::size_t row, const Prices& prices, Totals& least) {
  const std::uint8_t* eligible = units.eligible_row(row);
  std::size_t cheapest = prices.price.size();
  for (std::size_t arm = 0; arm < prices.price.size(); ++arm) {
    if (eligible != nullptr && eligible[arm] == 0) continue;
    if (cheapest == prices.price.size() || prices.price[arm] < prices.price[cheapest]) cheapest = arm;
  }
  if (cheapest == prices.price.size()) throw_bad_unit(units, row);
  ++least.units[cheapest];
}

// The exact choice at the start of the window, and the unit's increments inside it.
void open_unit(const Units& units, std::size_t row, const Prices& prices, Bracket bracket, Hull& hull,
               std::uint8_t& arm, Chunk& chunk) {
  build_hull(units, row, prices, hull);
  std::size_t point = 1;
  while (point < hull.size && hull.efficiency[point] > static_cast<double>(bracket.high)) ++point;
  arm = hull.points[point - 1].arm;
  for (; point < hull.size && hull.efficiency[point] >= static_cast<double>(bracket.low); ++point) {
    chunk.increments.push_back(increment_of(hull, point, units.first_unit + row, units.key(row)));
  }
}

// A whole tile: open units exactly, then the sums of all.
void settle_tile_exactly(const Units& units, const Rules& rules, const Prices& prices, Bracket bracket,
                         std::size_t first, std::uint8_t* arms, Chunk& chunk) {
  const std::size_t num_arms = units.revenue.cols;
  const float* revenue = units.revenue.data + first * num_arms;
  const float* cost = units.cost.data + first * num_arms;
  TileChoices choices;
  settle_tile({revenue, cost, units.eligible_row(first), num_arms, rules.control, bracket.high, bracket.low}, choices);
  Hull hull;
  for (std::size_t i = 0; i < kTileUnits; ++i) {
    if (i % 8 == 0) {  // most eights have none open
      std::uint64_t eight;
      std::memcpy(&eight, choices.open + i, sizeof eight);
      if (eight == 0) {
        i += 7;
        continue;
      }
    }
    if (choices.open[i] == 0) continue;
    open_unit(units, first + i, prices, bracket, hull, choices.arm[i], chunk);
    choices.cost[i] = cost[i * num_arms + choices.arm[i]];
    choices.revenue[i] = revenue[i * num_arms + choices.arm[i]];
    choices.least_cost[i] = static_cast<float>(hull.points[0].cost);
  }
  std::copy_n(choices.arm, kTileUnits, arms + first);
  chunk.count_tile(choices.arm);
  add_tile(choices.cost, chunk.before.cost);
  add_tile(choices.revenue, chunk.before.revenue);
  add_tile(choices.least_cost, chunk.least.cost);
  if (prices.known() != nullptr) {
    for (std::size_t i = 0; i < kTileUnits; ++i) add_least_arm(units, first + i, prices, chunk.least);
  }
  if (units.eligible.data != nullptr) {  // control may be barred, and was then not looked at
    for (std::size_t i = 0; i < kTileUnits; ++i) add_control(units, first + i, rules.control, chunk.control);
    return;
  }
  chunk.control.units[rules.control] += kTileUnits;
  add_tile(choices.control_cost, chunk.control.cost);
  add_tile(choices.control_revenue, chunk.control.revenue);
}

void settle_rows(const Units& units, const Rules& rules, const Prices& prices, Bracket bracket, std::size_t begin,
                 std::size_t end, std::uint8_t* arms, Chunk& chunk) {
  std::size_t row = begin;
  for (; row + kTileUnits <= end; row += kTileUnits) {
    settle_tile_exactly(units, rules, prices, bracket, row, arms, chunk);
  }
  Hull hull;
  for (; row < end; ++row) {  // the last few
    open_unit(units, row, prices, bracket, hull, arms[row], chunk);
    chunk.before.add(arms[row], units.cost(row, arms[row]), units.revenue(row, arms[row]));
    chunk.least.cost.add(static_cast<float>(hull.points[0].cost));
    if (prices.known() != nullptr) add_least_arm(units, row, prices, chunk.least);
    add_control(units, row, rules.control, chunk.control);
  }
  chunk.finish();
}

// An increment of the sample.
struct SampleStep {
  double efficiency;
  double extra_cost;
  double extra_square;  // of the cost
};
bool more_efficient(const SampleStep& a, const SampleStep& b) { return a.efficiency > b.efficiency; }

// What a sample of the units knows of a stretch of the path.
struct Sample {
  std::vector<SampleStep> steps;  // of the stretch
  double spend_before = 0.0;      // of the sampled units where the stretch begins
  double squares_before = 0.0;    // of their costs there
  std::size_t num_units = 0;

  // Of what the sampled units spend where they have spent so much, or as near to it as the stretch comes.
  double standard_error_at(double wanted) const {
    double spend = spend_before;
    double squares = squares_before;
    for (const SampleStep& step : steps) {
      if (spend >= wanted) break;
      spend += step.extra_cost;
      squares += step.extra_square;
    }
    return std::sqrt(std::max(0.0, squares - spend * spend / static_cast<double>(num_units)));
  }
};

// Runs of four neighbours at places drawn evenly: fewer misses of the cache than single units. The stretch is that of
// efficiencies from high (left out) down to low.
Sample draw_sample(const Units& units, const Prices& prices, std::size_t num_runs, double high, double low,
                   core::RunContext& context) {
  constexpr std::size_t kRun = 4;
  const std::size_t stride = units.size() / num_runs;
  std::vector<Sample> parts(kParts);
  context.pool.run(kParts, [&](std::size_t index) {
    Sample part;
    Hull hull;
    for (std::size_t run = num_runs * index / kParts; run < num_runs * (index + 1) / kParts; ++run) {
      const std::size_t first = run * stride + core::mix_bits(run) % (stride - kRun + 1);
      for (std::size_t row = first; row < first + kRun; ++row) {
        build_hull(units, row, prices, hull);
        std::size_t point = 1;
        while (point < hull.size && hull.efficiency[point] >= high) ++point;
        const double cost = hull.points[point - 1].cost;
        part.spend_before += cost;
        part.squares_before += cost * cost;
        for (; point < hull.size && hull.efficiency[point] >= low; ++point) {
          const double from = hull.points[point - 1].cost;
          const double to = hull.points[point].cost;
          part.steps.push_back({hull.efficiency[point], to - from, to * to - from * from});
        }
      }
    }
    parts[index] = std::move(part);
  });
  Sample sample;
  sample.num_units = num_runs * kRun;
  for (const Sample& part : parts) {
    sample.steps.insert(sample.steps.end(), part.steps.begin(), part.steps.end());
    sample.spend_before += part.spend_before;
    sample.squares_before += part.squares_before;
  }
  std::sort(sample.steps.begin(), sample.steps.end(), more_efficient);
  return sample;
}

// Efficiencies at which the sample has spent `from` and `to` of its own money, the second `further` steps on. high is
// infinite where the stretch begins later than `from`, low 0 where it ends earlier.
struct Stretch {
  double high = std::numeric_limits<double>::infinity();
  double low = 0.0;
};
Stretch stretch_of(const Sample& sample, double from, double to, double further) {
  Stretch stretch;
  double spend = sample.spend_before;
  std::size_t step = 0;
  for (; step < sample.steps.size() && spend <= from; ++step) {
    spend += sample.steps[step].extra_cost;
    stretch.high = sample.steps[step].efficiency;
  }
  while (step < sample.steps.size() && spend <= to) spend += sample.steps[step++].extra_cost;
  step += static_cast<std::size_t>(further);
  if (step < sample.steps.size()) stretch.low = sample.steps[step].efficiency;
  return stretch;
}

}  // namespace

std::optional<Bracket> bracket_on_sample(const Units& units, const Rules& rules, double budget,
                                         core::RunContext& context) {
  constexpr std::size_t kFewestUnits = 40'000;
  constexpr std::size_t kFewRuns = 1'024;
  const std::size_t many_runs = std::min<std::size_t>(24'576, units.size() / 16);
  constexpr double kStandardErrors = 4.0;
  if (units.size() < kFewestUnits || units.revenue.cols > kTileArms) return std::nullopt;
  const Prices prices(rules);
  // A few units tell roughly where to look, more of them then look only there.
  Stretch stretch;
  for (const std::size_t num_runs : {kFewRuns, many_runs}) {
    const Sample sample = draw_sample(units, prices, num_runs, stretch.high, stretch.low, context);
    const double share = static_cast<double>(sample.num_units) / static_cast<double>(units.size());
    const double wanted = budget * share;
    const double margin =
        kStandardErrors * std::max(sample.standard_error_at(wanted), 1e-9 * std::abs(sample.spend_before));
    const double to_fill = static_cast<double>(kFillIncrements) * share;
    stretch = stretch_of(sample, wanted - margin, wanted + margin, to_fill + 4.0 * std::sqrt(to_fill) + 4.0);
  }
  if (!std::isfinite(stretch.high)) return std::nullopt;
  // Nothing is taken below the least efficiency: units that differ only there are settled.
  const float end = std::nextafter(static_cast<float>(prices.least_efficiency), 0.0f);
  const float low = std::max(static_cast<float>(stretch.low), end > 0.0f ? std::nextafter(end, 0.0f) : 0.0f);
  return Bracket{std::max(static_cast<float>(stretch.high), low), low};
}

Settled settle(const Units& units, const Rules& rules, Bracket bracket, std::uint8_t* arms, core::RunContext& context) {
  const Prices prices(rules);
  std::vector<Chunk> chunks(kSettleParts);
  context.pool.run(kSettleParts, [&](std::size_t part) {
    context.check_cancelled();
    const std::size_t num_tiles = (units.size() + kTileUnits - 1) / kTileUnits;
    const std::size_t begin = num_tiles * part / kSettleParts * kTileUnits;
    const std::size_t end = std::min(units.size(), num_tiles * (part + 1) / kSettleParts * kTileUnits);
    settle_rows(units, rules, prices, bracket, begin, end, arms, chunks[part]);
  });
  Settled settled;
  std::vector<std::vector<Increment>> increments;
  for (Chunk& chunk : chunks) {
    settled.before.add(chunk.before);
    settled.control.add(chunk.control);
    settled.least.add(chunk.least);
    increments.push_back(std::move(chunk.increments));
  }
  settled.reaches_end = static_cast<double>(bracket.low) <= prices.least_efficiency;
  settled.window = DealtPath(increments, context);
  return settled;
}

namespace {

// The blocks of a window, sorted when they are read.
class WindowBlocks final : public PathBlocks {
 public:
  WindowBlocks(DealtPath& window, bool reaches_end, const Prices& prices)
      : window_(window), reaches_end_(reaches_end), prices_(prices) {}

  // Takes whole blocks as long as they fit.
  void take_blocks(double budget, Totals& totals) {
    for (; next_ < window_.num_blocks(); ++next_) {
      for (const Increment& increment : window_.block(next_)) totals.take(increment);
      if (totals.spend(prices_) <= budget) continue;
      for (const Increment& increment : window_.block(next_)) totals.give_back(increment);
      return;
    }
  }
  std::optional<Head> head() override {
    if (next_ == window_.num_blocks()) return reaches_end_ ? std::nullopt : std::optional(Head{1, 0.0});
    double least_cost = std::numeric_limits<double>::infinity();
    for (const Increment& increment : window_.block(next_)) {
      least_cost = std::min(least_cost, increment.extra_cost(prices_));
    }
    return Head{window_.block(next_).size(), least_cost};
  }
  std::optional<std::span<const Increment>> read() override {
    if (next_ == window_.num_blocks()) return std::nullopt;
    const std::span<Increment> block = window_.block(next_++);
    std::sort(block.begin(), block.end(), before);
    return block;
  }
  void skip() override { ++next_; }

 private:
  DealtPath& window_;
  bool reaches_end_;
  const Prices& prices_;
  std::size_t next_ = 0;
};

}  // namespace

CutSolution solve_settled(Settled& settled, const Prices& prices, double budget, std::uint8_t* arms) {
  WindowBlocks blocks(settled.window, settled.reaches_end, prices);
  Totals before = settled.before;
  if (before.spend(prices) <= budget) blocks.take_blocks(budget, before);
  CutSolution solution = solve_cut(before, blocks, prices, budget);
  if (solution.outcome != CutOutcome::solved) return solution;
  const PathPosition cut = solution.next ? position_of(*solution.next) : kPathEnd;
  // Blocks that were not read are in no order: a unit's second increment may come first.
  std::vector<const Increment*> early;
  const auto take = [&](const Increment& increment) {
    const bool fits = arms[increment.unit] == increment.arm_from;
    if (fits) arms[increment.unit] = increment.arm_to;
    return fits;
  };
  for (const Increment& increment : settled.window.increments()) {
    if (position_of(increment) < cut && !take(increment)) early.push_back(&increment);
  }
  while (!early.empty()) std::erase_if(early, [&](const Increment* increment) { return take(*increment); });
  for (const Increment& increment : solution.filled) arms[increment.unit] = increment.arm_to;
  return solution;
}

namespace {

void assign_rows(const Units& units, std::size_t begin, std::size_t end, const Prices& prices, PathPosition position,
                 std::uint8_t* arms) {
  Hull hull;
  for (std::size_t row = begin; row < end; ++row) {
    build_hull(units, row, prices, hull);
    arms[row] = hull.points[points_before(hull, units.key(row), position) - 1].arm;
  }
}

// float32 numbers on both sides of an efficiency; none where it is too large for them.
std::optional<Bracket> bracket_around(double efficiency) {
  if (!(efficiency < 1e30)) return std::nullopt;
  const auto nearest = static_cast<float>(efficiency);
  const float above = std::nextafter(nearest, std::numeric_limits<float>::infinity());
  return Bracket{above, nearest > 0.0f ? std::nextafter(nearest, 0.0f) : 0.0f};
}

}  // namespace

void assign_before(const Units& units, const Prices& prices, PathPosition position, std::uint8_t* arms,
                   core::RunContext& context) {
  constexpr std::size_t kChunkUnits = 16'384;
  double efficiency = prices.least_efficiency;
  if (position < kPathEnd) {
    efficiency = std::bit_cast<double>(0x7ff0000000000000u - static_cast<std::uint64_t>(position >> 64));
  }
  const std::optional<Bracket> bracket = bracket_around(std::max(efficiency, prices.least_efficiency));
  const bool tiles = bracket && units.revenue.cols <= kTileArms;
  core::for_each_chunk(context, units.size(), kChunkUnits, [&](std::size_t begin, std::size_t end, std::size_t) {
    std::size_t row = begin;
    TileChoices choices;
    for (; tiles && row + kTileUnits <= end; row += kTileUnits) {
      const std::size_t first = row * units.revenue.cols;
      settle_tile({units.revenue.data + first, units.cost.data + first, units.eligible_row(row), units.revenue.cols, 0,
                   bracket->high, bracket->low},
                  choices);
      std::copy_n(choices.arm, kTileUnits, arms + row);
      for (std::size_t i = 0; i < kTileUnits; ++i) {
        if (choices.open[i] != 0) assign_rows(units, row + i, row + i + 1, prices, position, arms);
      }
    }
    assign_rows(units, row, end, prices, position, arms);
  });
}

}  // namespace dfcl::allocate
