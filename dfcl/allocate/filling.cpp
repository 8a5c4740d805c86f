// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/filling.h"

#include <algorithm>
#include <cmath>

namespace dfcl::allocate {
namespace {

// Where there are more, those with most money are followed.
constexpr std::size_t kMostFillings = 64;

}  // namespace

Filler::Filler(const Increment& cut, const Prices& prices, double left)
    : prices_(prices), cut_(position_of(cut)), most_unused_(left) {
  fillings_.push_back({0.0, left, true, 0.0, 0.0, {}});
}

bool Filler::done() const { return passed_ >= kFillIncrements || !(most_unused_ > 0.0); }

void Filler::pass_over(std::size_t count) { passed_ += std::min(count, kFillIncrements - passed_); }

void Filler::offer(std::span<const Increment> increments) {
  for (const Increment& increment : increments.first(std::min(increments.size(), kFillIncrements - passed_))) {
    if (done()) return;
    ++passed_;
    const double cost = increment.extra_cost(prices_);
    if (cost > most_unused_) continue;
    take(increment, cost);
  }
}

// A unit takes its increments in order: the one before must lie before the cut or have been taken by this filling.
bool Filler::is_open(const Increment& increment, const Filling& filling) const {
  if (increment.is_first() || position_of(increment.previous, increment.key) < cut_) return true;
  return std::any_of(filling.taken.begin(), filling.taken.end(), [&](std::size_t index) {
    const Increment& offer = offers_[index];
    return offer.key == increment.key && offer.unit == increment.unit && offer.efficiency == increment.previous;
  });
}

void Filler::take(const Increment& increment, double cost) {
  const double gain = prices_.value(increment.extra_revenue(), cost);
  bool taken = false;
  for (std::size_t f = fillings_.size(); f-- > 0;) {
    const double enough = fillings_[f].used + cost;
    if (enough > fillings_[f].most || (enough == fillings_[f].most && !fillings_[f].has_most)) continue;
    if (!is_open(increment, fillings_[f])) continue;
    if (enough > fillings_[f].least) {  // less money does not reach
      fillings_.insert(fillings_.begin() + static_cast<std::ptrdiff_t>(f) + 1, fillings_[f]);
      fillings_[f].most = enough;
      fillings_[f].has_most = false;
      ++f;
      fillings_[f].least = enough;
    }
    fillings_[f].used = enough;
    fillings_[f].gained += gain;
    fillings_[f].taken.push_back(offers_.size());
    taken = true;
  }
  if (!taken) return;
  offers_.push_back(increment);
  if (fillings_.size() > kMostFillings) {
    fillings_.erase(fillings_.begin(), fillings_.end() - static_cast<std::ptrdiff_t>(kMostFillings));
  }
  retire(prices_.multiplier(increment.efficiency));
}

// value_per_cost: no increment to come gains more.
void Filler::retire(double value_per_cost) {
  double best = 0.0;
  for (const Filling& filling : fillings_) best = std::max(best, filling.gained);
  const double enough = best * (1.0 - 1e-9);  // sums of gains are rounded
  const auto can_win = [&](const Filling& filling) {
    return filling.gained + (filling.most - filling.used) * value_per_cost >= enough;
  };
  const auto lost = std::stable_partition(fillings_.begin(), fillings_.end(), can_win);
  retired_.insert(retired_.end(), std::make_move_iterator(lost), std::make_move_iterator(fillings_.end()));
  fillings_.erase(lost, fillings_.end());
  if (retired_.size() > kMostFillings) {
    retired_.erase(retired_.begin(), retired_.end() - static_cast<std::ptrdiff_t>(kMostFillings));
  }
  most_unused_ = 0.0;
  for (const Filling& filling : fillings_) most_unused_ = std::max(most_unused_, filling.most - filling.used);
}

std::vector<Filling> Filler::finish() {
  std::vector<Filling> all = std::move(fillings_);
  all.insert(all.end(), std::make_move_iterator(retired_.begin()), std::make_move_iterator(retired_.end()));
  std::stable_sort(all.begin(), all.end(), [](const Filling& a, const Filling& b) {
    return a.gained != b.gained ? a.gained > b.gained : a.least < b.least;
  });
  return all;
}

}  // namespace dfcl::allocate
