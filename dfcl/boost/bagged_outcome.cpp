// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/bagged_outcome.h"

#include <algorithm>

#include "dfcl/boost/link.h"
#include "dfcl/core/parallel.h"

namespace dfcl::boost {
namespace {

constexpr std::size_t kLossChunk = 2048;  // held-out units
constexpr double kPatience = 2.0;         // rounds without gain, times the learning rate

double prediction_of(loss::OutcomeKind kind, float raw) {
  apply_link(kind, {&raw, 1});
  return static_cast<double>(raw);
}

}  // namespace

BaggedOutcome::BaggedOutcome(const BinnedUnits& units, std::vector<BagData> data, const BoostOptions& options,
                             core::RunContext& context)
    : options_(options) {
  bags_.reserve(data.size());
  for (BagData& of_bag : data) bags_.emplace_back(units, std::move(of_bag), options);
  find_held_out();
  arm_loss_ = held_out_mean(&BoostedBag::arm_raw, context);
  best_loss_ = held_loss_ = held_out_mean(&BoostedBag::raw, context);
  finished_ = std::all_of(bags_.begin(), bags_.end(), [](const BoostedBag& bag) { return bag.is_settled(); });
}

void BaggedOutcome::find_held_out() {
  struct Held {
    std::uint32_t unit;
    std::uint8_t bag;
    float weight;
  };
  std::vector<Held> all;
  for (std::size_t bag = 0; bag < bags_.size(); ++bag) {
    const BagData& data = bags_[bag].data();
    for (std::size_t i = 0; i < data.held_out.size(); ++i)
      all.push_back({data.held_out[i], static_cast<std::uint8_t>(bag), data.held_weight[i]});
  }
  std::stable_sort(all.begin(), all.end(), [](const Held& a, const Held& b) { return a.unit < b.unit; });
  for (const Held& held : all) {
    if (held_.empty() || held_.back() != held.unit) {
      held_.push_back(held.unit);
      held_weight_.push_back(held.weight);
      first_.push_back(holders_.size());
    }
    holders_.push_back(held.bag);
  }
  first_.push_back(holders_.size());
}

double BaggedOutcome::held_out_mean(float (BoostedBag::*raw)(std::uint32_t) const, core::RunContext& context) const {
  const BagData& data = bags_.front().data();
  std::vector<double> losses(held_.size());
  core::for_each_chunk(context, held_.size(), kLossChunk, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t count = first_[i + 1] - first_[i];
      float mean = (bags_[holders_[first_[i]]].*raw)(held_[i]);
      if (count > 1) {
        double sum = 0.0;
        for (std::size_t k = first_[i]; k < first_[i + 1]; ++k)
          sum += prediction_of(data.kind, (bags_[holders_[k]].*raw)(held_[i]));
        mean = raw_of(data.kind, sum / static_cast<double>(count));
      }
      losses[i] = loss_at(data.kind, static_cast<double>(mean), static_cast<double>(data.observed[held_[i]]));
    }
  });
  double sum = 0.0;
  double weights = 0.0;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    const auto weight = static_cast<double>(held_weight_[i]);
    sum += weight * losses[i];
    weights += weight;
  }
  return weights > 0.0 ? sum / weights : 0.0;
}

void BaggedOutcome::end_round(bool any_grown, core::RunContext& context) {
  if (finished_) return;
  ++rounds_;
  ++idle_rounds_;
  if (any_grown) {
    held_loss_ = held_out_mean(&BoostedBag::raw, context);
    if (held_.empty() || held_loss_ < best_loss_) {
      best_loss_ = held_loss_;
      idle_rounds_ = 0;
      for (BoostedBag& bag : bags_) bag.keep();
    }
  }
  const auto patience = std::clamp<std::size_t>(static_cast<std::size_t>(kPatience / options_.learning_rate), 10, 200);
  finished_ = rounds_ >= options_.trees || idle_rounds_ >= patience;
}

double BaggedOutcome::training_loss(core::RunContext& context) const {
  double sum = 0.0;
  for (const BoostedBag& bag : bags_) sum += bag.training_loss(context);
  return sum / static_cast<double>(bags_.size());
}

bool BaggedOutcome::keeps_trees() const {
  const bool any = std::any_of(bags_.begin(), bags_.end(), [](const BoostedBag& bag) { return bag.keeps_trees(); });
  return any && (held_.empty() || best_loss_ < arm_loss_);
}

std::vector<Bag> BaggedOutcome::kept() const {
  const bool trees = keeps_trees();
  std::vector<Bag> list;
  for (const BoostedBag& bag : bags_) list.push_back(trees ? bag.bag() : bag.arm_means_alone());
  return list;
}

std::vector<double> BaggedOutcome::arm_gains() const {
  std::vector<double> gains(bags_.front().arm_gains().size());
  if (!keeps_trees()) return gains;
  for (const BoostedBag& bag : bags_) {
    for (std::size_t column = 0; column < gains.size(); ++column) gains[column] += bag.arm_gains()[column];
  }
  return gains;
}

}  // namespace dfcl::boost
