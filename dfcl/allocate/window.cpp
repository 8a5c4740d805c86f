// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/window.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "dfcl/core/hash.h"

namespace dfcl::allocate {
namespace {

// The last increment after the cut that was seen of each unit: the next one is open only to those who took it.
class LastOfUnit {
 public:
  explicit LastOfUnit(std::size_t most_units)
      : units_(std::bit_ceil(4 * most_units), kEmpty), indices_(units_.size()) {}
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // The last index of the unit, which then is `index`.
  std::size_t exchange(std::uint32_t unit, std::size_t index) {
    std::size_t slot = core::mix_bits(unit) & (units_.size() - 1);
    while (units_[slot] != kEmpty && units_[slot] != unit) slot = (slot + 1) & (units_.size() - 1);
    const std::size_t last = units_[slot] == unit ? indices_[slot] : kNone;
    units_[slot] = unit;
    indices_[slot] = static_cast<std::uint32_t>(index);
    return last;
  }

 private:
  static constexpr std::uint32_t kEmpty = 0xffffffffu;
  std::vector<std::uint32_t> units_;
  std::vector<std::uint32_t> indices_;
};

// What filling takes with any amount of money from `least` on, up to where the next Filling begins.
struct Filling {
  double least = 0.0;
  double used = 0.0;
  double gained = 0.0;
  std::vector<std::size_t> taken;
};

// The largest number of leading increments that keep within the budget; totals moves there. The correctly rounded
// spend never falls along the path, so halving finds it. Each increment is added at most twice.
std::size_t find_cut(std::span<const Increment> increments, const Prices& prices, double budget, Totals& totals) {
  std::size_t cut = 0;
  for (std::size_t width = std::bit_floor(increments.size()); width > 0; width /= 2) {
    if (cut + width > increments.size()) continue;
    for (std::size_t i = cut; i < cut + width; ++i) totals.take(increments[i]);
    if (totals.spend(prices) <= budget) {
      cut += width;
    } else {
      for (std::size_t i = cut; i < cut + width; ++i) totals.give_back(increments[i]);
    }
  }
  // Units of equal keys (never by chance) are taken together, so that a position names the cut.
  while (cut > 0 && cut < increments.size() && position_of(increments[cut - 1]) == position_of(increments[cut])) {
    totals.give_back(increments[--cut]);
  }
  return cut;
}

// All greedy fillings with up to `left` money, the least first; where there are very many, those with most money.
std::vector<Filling> greedy_fillings(std::span<const Increment> increments, std::size_t cut, const Prices& prices,
                                     double left) {
  constexpr std::size_t kMostFillings = 64;
  std::vector<Filling> fillings(1);
  const std::size_t end = std::min(increments.size(), cut + 1 + kFillIncrements);
  LastOfUnit last_of_unit(end - cut);
  last_of_unit.exchange(increments[cut].unit, cut);
  double most_unused = left;
  for (std::size_t i = cut + 1; i < end && most_unused > 0.0; ++i) {
    const double cost = increments[i].extra_cost;
    const std::size_t needed = last_of_unit.exchange(increments[i].unit, i);
    if (cost > most_unused) continue;
    const double revenue = increments[i].extra_revenue();
    for (std::size_t f = fillings.size(); f-- > 0;) {
      const double most = f + 1 < fillings.size() ? fillings[f + 1].least : left;
      const double enough = fillings[f].used + cost;
      const std::vector<std::size_t>& taken = fillings[f].taken;
      const bool open = needed == LastOfUnit::kNone || std::find(taken.begin(), taken.end(), needed) != taken.end();
      // The upper end belongs to the next filling, except that of the last.
      if (!open || enough > most || (enough == most && f + 1 < fillings.size())) continue;
      if (enough > fillings[f].least) {  // less money does not reach
        fillings.insert(fillings.begin() + static_cast<std::ptrdiff_t>(f) + 1, fillings[f]);
        ++f;
        fillings[f].least = enough;
      }
      fillings[f].used = enough;
      fillings[f].gained += prices.value(revenue, cost);
      fillings[f].taken.push_back(i);
    }
    if (fillings.size() > kMostFillings) {
      fillings.erase(fillings.begin(), fillings.end() - static_cast<std::ptrdiff_t>(kMostFillings));
    }
    most_unused = 0.0;
    for (std::size_t f = 0; f < fillings.size(); ++f) {
      const double most = f + 1 < fillings.size() ? fillings[f + 1].least : left;
      most_unused = std::max(most_unused, most - fillings[f].used);
    }
  }
  return fillings;
}

void fill(std::span<const Increment> increments, const Prices& prices, double budget, WindowSolution& solution) {
  double left = budget - solution.total.spend(prices);
  if (prices.known() != nullptr) left += 1e-12 * std::abs(budget);  // the sum decides below, not this difference
  std::vector<Filling> fillings = greedy_fillings(increments, solution.cut, prices, left);
  std::stable_sort(fillings.begin(), fillings.end(),
                   [](const Filling& a, const Filling& b) { return a.gained > b.gained; });
  for (const Filling& filling : fillings) {
    for (const std::size_t i : filling.taken) solution.total.take(increments[i]);
    if (solution.total.spend(prices) <= budget) {  // always, up to the rounding of `used`
      solution.filled = filling.taken;
      return;
    }
    for (const std::size_t i : filling.taken) solution.total.give_back(increments[i]);
  }
}

}  // namespace

double Totals::spend(const Prices& prices) const {
  if (prices.price.empty()) return cost.value();
  if (prices.price_scale > 0.0) {
    std::int64_t whole = 0;  // units < 2^31, prices < 2^31
    for (std::size_t arm = 0; arm < prices.price.size(); ++arm) whole += units[arm] * prices.decimal_price[arm];
    return static_cast<double>(whole) / prices.price_scale;
  }
  double sum = 0.0;
  for (std::size_t arm = 0; arm < prices.price.size(); ++arm) {
    sum += static_cast<double>(units[arm]) * prices.price[arm];
  }
  return sum;
}

WindowSolution solve_window(const Totals& before, std::span<const Increment> increments, bool reaches_end,
                            const Prices& prices, double budget) {
  WindowSolution solution;
  solution.total = before;
  if (before.spend(prices) > budget) {
    solution.outcome = WindowOutcome::too_late;
    return solution;
  }
  const std::size_t size = increments.size();
  solution.cut = find_cut(increments, prices, budget, solution.total);
  solution.at_cut = solution.total;
  const std::size_t needed = std::min(size, solution.cut + 1 + kFillIncrements);
  if (!reaches_end && (solution.cut == size || needed < solution.cut + 1 + kFillIncrements)) {
    solution.outcome = WindowOutcome::too_early;
    return solution;
  }
  if (solution.cut < size) fill(increments, prices, budget, solution);
  return solution;
}

}  // namespace dfcl::allocate
