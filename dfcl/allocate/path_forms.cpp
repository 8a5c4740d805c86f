// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/path_forms.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "dfcl/core/parallel.h"

namespace dfcl::allocate {

class SortedForm::Blocks final : public PathBlocks {
 public:
  Blocks(const SortedForm& form, std::size_t first) : form_(form), next_(first) {}

  std::optional<Head> head() override {
    if (next_ == form_.blocks_.size()) return std::nullopt;
    return Head{span_of(next_).size(), form_.blocks_[next_].least_cost};
  }
  std::optional<std::span<const Increment>> read() override { return span_of(next_++); }
  void skip() override { ++next_; }

 private:
  std::span<const Increment> span_of(std::size_t index) const {
    const std::span<const Increment> all = form_.increments();
    const std::size_t begin = form_.blocks_[index].begin;
    const std::size_t end = index + 1 < form_.blocks_.size() ? form_.blocks_[index + 1].begin : all.size();
    return all.subspan(begin, end - begin);
  }

  const SortedForm& form_;
  std::size_t next_;
};

SortedForm::SortedForm(UnitPieces& pieces, const Rules& rules, core::RunContext& context)
    : prices_(rules), path_(sort_whole_path(pieces, rules, context)) {
  constexpr std::size_t kBlock = 2048;
  const std::span<const Increment> all = increments();
  for (std::size_t begin = 0; begin < all.size();) {
    blocks_.push_back({begin, std::numeric_limits<double>::infinity(), 0.0, {}});
    begin = std::min(begin + kBlock, all.size());
    while (begin < all.size() && position_of(all[begin - 1]) == position_of(all[begin])) ++begin;
  }
  // Sums are exact, so what a block changes can be added to what was before it.
  core::for_each_chunk(context, blocks_.size(), 8, [&](std::size_t first, std::size_t last, std::size_t) {
    for (std::size_t index = first; index < last; ++index) {
      Block& block = blocks_[index];
      const std::size_t end = index + 1 < blocks_.size() ? blocks_[index + 1].begin : all.size();
      for (std::size_t i = block.begin; i < end; ++i) {
        block.least_cost = std::min(block.least_cost, all[i].extra_cost(prices_));
        block.before.take(all[i]);
      }
    }
  });
  Totals totals = path_.ends.least;
  for (Block& block : blocks_) {
    Totals after = totals;
    after.add(block.before);
    block.before = std::exchange(totals, after);
    block.spend = block.before.spend(prices_);
  }
}

std::vector<CutSolution> SortedForm::cut_at(std::span<const double> budgets, core::RunContext& context) {
  std::vector<CutSolution> solutions(budgets.size());
  core::for_each_chunk(context, budgets.size(), 1, [&](std::size_t index, std::size_t, std::size_t) {
    const auto above = std::upper_bound(blocks_.begin(), blocks_.end(), budgets[index],
                                        [](double budget, const Block& block) { return budget < block.spend; });
    const auto first = static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, above - blocks_.begin())) - 1;
    Blocks blocks(*this, first);
    solutions[index] =
        solve_cut(blocks_.empty() ? path_.ends.least : blocks_[first].before, blocks, prices_, budgets[index]);
  });
  return solutions;
}

Totals SortedForm::totals_at(PathPosition position, core::RunContext&) {
  const std::span<const Increment> all = increments();
  const auto cut = static_cast<std::size_t>(
      std::partition_point(all.begin(), all.end(),
                           [&](const Increment& increment) { return position_of(increment) < position; }) -
      all.begin());
  const auto above = std::upper_bound(blocks_.begin(), blocks_.end(), cut,
                                      [](std::size_t place, const Block& block) { return place < block.begin; });
  if (above == blocks_.begin()) return path_.ends.least;
  const Block& block = *(above - 1);
  Totals totals = block.before;
  for (std::size_t i = block.begin; i < cut; ++i) totals.take(all[i]);
  return totals;
}

}  // namespace dfcl::allocate
