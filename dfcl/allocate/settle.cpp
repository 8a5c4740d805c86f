// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/settle.h"

#include <algorithm>
#include <cmath>

#include "dfcl/allocate/settle_tile.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/parallel.h"

namespace dfcl::allocate {
namespace {

constexpr std::size_t kChunkUnits = 16'384;  // a multiple of kTileUnits

struct Chunk {
  Totals before;
  Totals control;
  ExactSum least_cost;
  std::vector<Increment> increments;
};

// The exact choice at the start of the window, and the unit's increments inside it.
void open_unit(const Units& units, std::size_t row, const Prices& prices, Bracket bracket, Hull& hull,
               std::uint8_t& arm, Chunk& chunk) {
  build_hull(units, row, prices.least_efficiency, hull);
  std::size_t point = 1;
  while (point < hull.size && hull.efficiency[point] > static_cast<double>(bracket.high)) ++point;
  arm = hull.points[point - 1].arm;
  for (; point < hull.size && hull.efficiency[point] >= static_cast<double>(bracket.low); ++point) {
    chunk.increments.push_back(increment_of(hull, point, units.first_unit + row));
  }
}

// A whole tile: open units exactly, then the sums of all.
void settle_tile_exactly(const Units& units, const Rules& rules, const Prices& prices, Bracket bracket,
                         std::size_t first, std::uint8_t* arms, Chunk& chunk) {
  const std::size_t num_arms = units.revenue.cols;
  const float* revenue = units.revenue.data + first * num_arms;
  const float* cost = units.cost.data + first * num_arms;
  TileChoices choices;
  settle_tile(revenue, cost, units.eligible_row(first), num_arms, bracket.high, bracket.low, choices);
  Hull hull;
  for (std::size_t i = 0; i < kTileUnits; ++i) {
    if (choices.open[i] == 0) continue;
    open_unit(units, first + i, prices, bracket, hull, choices.arm[i], chunk);
    choices.cost[i] = cost[i * num_arms + choices.arm[i]];
    choices.revenue[i] = revenue[i * num_arms + choices.arm[i]];
    choices.least_cost[i] = hull.points[0].cost;
  }
  std::copy_n(choices.arm, kTileUnits, arms + first);
  add_tile(choices.cost, chunk.before.cost);
  add_tile(choices.revenue, chunk.before.revenue);
  add_tile(choices.least_cost, chunk.least_cost);
  float control_cost[kTileUnits];
  float control_revenue[kTileUnits];
  if (units.eligible.data != nullptr) {  // control may be barred, and was then not looked at
    for (std::size_t i = 0; i < kTileUnits; ++i) add_control(units, first + i, rules.control, chunk.control);
    return;
  }
  for (std::size_t i = 0; i < kTileUnits; ++i) {
    control_cost[i] = cost[i * num_arms + rules.control];
    control_revenue[i] = revenue[i * num_arms + rules.control];
  }
  add_tile(control_cost, chunk.control.cost);
  add_tile(control_revenue, chunk.control.revenue);
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
    chunk.before.add(units.cost(row, arms[row]), units.revenue(row, arms[row]));
    chunk.least_cost.add(hull.points[0].cost);
    add_control(units, row, rules.control, chunk.control);
  }
}

// An increment of the sample.
struct SampleStep {
  double efficiency;
  float extra_cost;
  std::uint32_t unit;  // of the sample
};

struct Sample {
  std::vector<SampleStep> steps;  // in no order
  std::vector<float> first_cost;  // per sampled unit, at the start of its hull
  double scale = 1.0;             // units per sampled unit
};

Sample draw_sample(const Units& units, const Prices& prices, core::RunContext& context) {
  // Runs of four neighbours at places drawn evenly: fewer misses of the cache than single units.
  constexpr std::size_t kRun = 4;
  constexpr std::size_t kRuns = 24'576;
  const std::size_t stride = units.size() / kRuns;
  Sample sample;
  sample.first_cost.resize(kRuns * kRun);
  sample.scale = static_cast<double>(units.size()) / static_cast<double>(kRuns * kRun);
  std::vector<std::vector<SampleStep>> parts(kParts);
  context.pool.run(kParts, [&](std::size_t part) {
    Hull hull;
    for (std::size_t run = kRuns * part / kParts; run < kRuns * (part + 1) / kParts; ++run) {
      const std::size_t first = run * stride + core::mix_bits(run) % (stride - kRun + 1);
      for (std::size_t i = 0; i < kRun; ++i) {
        build_hull(units, first + i, prices.least_efficiency, hull);
        const std::size_t index = run * kRun + i;
        sample.first_cost[index] = hull.points[0].cost;
        for (std::size_t point = 1; point < hull.size; ++point) {
          parts[part].push_back({hull.efficiency[point], hull.points[point].cost - hull.points[point - 1].cost,
                                 static_cast<std::uint32_t>(index)});
        }
      }
    }
  });
  for (const auto& part : parts) sample.steps.insert(sample.steps.end(), part.begin(), part.end());
  return sample;
}

bool more_efficient(const SampleStep& a, const SampleStep& b) { return a.efficiency > b.efficiency; }

// Moves the steps of highest efficiency within [begin, end) to its front until they cost `money`, without sorting the
// rest: where they end. The last of them is in its sorted place.
std::size_t split_at_cost(std::vector<SampleStep>& steps, std::size_t begin, std::size_t end, double money) {
  const auto at = [&](std::size_t i) { return steps.begin() + static_cast<std::ptrdiff_t>(i); };
  while (begin < end) {
    const std::size_t middle = begin + (end - begin) / 2;
    std::nth_element(at(begin), at(middle), at(end), more_efficient);
    double cost = 0.0;
    for (std::size_t i = begin; i <= middle; ++i) cost += static_cast<double>(steps[i].extra_cost);
    if (cost <= money) {
      begin = middle + 1;
      money -= cost;
    } else {
      end = middle;
    }
  }
  return begin;
}

// The standard error of the total spend at the sample's cut.
double standard_error(const Sample& sample, std::size_t cut) {
  std::vector<double> cost(sample.first_cost.begin(), sample.first_cost.end());
  for (std::size_t i = 0; i < cut; ++i) cost[sample.steps[i].unit] += static_cast<double>(sample.steps[i].extra_cost);
  double sum = 0.0;
  double squares = 0.0;
  for (const double number : cost) sum += number;
  const auto count = static_cast<double>(cost.size());
  for (const double number : cost) squares += (number - sum / count) * (number - sum / count);
  return sample.scale * std::sqrt(squares);
}

}  // namespace

std::optional<Bracket> bracket_on_sample(const Units& units, const Rules& rules, double budget,
                                         core::RunContext& context) {
  constexpr std::size_t kFewestUnits = 500'000;
  if (units.size() < kFewestUnits || units.revenue.cols > kTileArms) return std::nullopt;
  Sample sample = draw_sample(units, Prices(rules), context);
  double money = budget / sample.scale;  // for increments, in the sample
  for (const float cost : sample.first_cost) money -= static_cast<double>(cost);
  std::vector<SampleStep>& steps = sample.steps;
  const std::size_t cut = split_at_cost(steps, 0, steps.size(), money);
  const double margin = 4.0 * standard_error(sample, cut) / sample.scale;
  double cost_of_cut = 0.0;
  for (std::size_t i = 0; i < cut; ++i) cost_of_cut += static_cast<double>(steps[i].extra_cost);
  const std::size_t high = split_at_cost(steps, 0, cut, money - margin);
  if (high == 0) return std::nullopt;
  Bracket bracket;
  bracket.high = static_cast<float>(steps[high - 1].efficiency);
  const std::size_t beyond = split_at_cost(steps, cut, steps.size(), money + margin - cost_of_cut);
  const double to_fill = static_cast<double>(kFillIncrements) / sample.scale;
  const std::size_t low = beyond + static_cast<std::size_t>(to_fill + 4.0 * std::sqrt(to_fill) + 4.0);
  if (low < steps.size()) {
    const auto nth = steps.begin() + static_cast<std::ptrdiff_t>(low);
    std::nth_element(steps.begin() + static_cast<std::ptrdiff_t>(beyond), nth, steps.end(), more_efficient);
    bracket.low = static_cast<float>(nth->efficiency);
  }
  return bracket;
}

Settled settle(const Units& units, const Rules& rules, Bracket bracket, std::uint8_t* arms, core::RunContext& context) {
  const Prices prices(rules);
  std::vector<Chunk> chunks((units.size() + kChunkUnits - 1) / kChunkUnits);
  core::for_each_chunk(context, units.size(), kChunkUnits, [&](std::size_t begin, std::size_t end, std::size_t index) {
    settle_rows(units, rules, prices, bracket, begin, end, arms, chunks[index]);
  });
  Settled settled;
  for (const Chunk& chunk : chunks) {
    settled.window.before.add(chunk.before);
    settled.control.add(chunk.control);
    settled.least_cost.add(chunk.least_cost);
    settled.window.increments.insert(settled.window.increments.end(), chunk.increments.begin(), chunk.increments.end());
  }
  settled.window.reaches_end = static_cast<double>(bracket.low) <= prices.least_efficiency;
  sort_path(settled.window.increments, context);
  return settled;
}

}  // namespace dfcl::allocate
