// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/boosted_bag.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/boost/leaf_masks.h"
#include "dfcl/boost/link.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/parallel.h"
#include "dfcl/core/random.h"
#include "dfcl/learn/rising.h"

namespace dfcl::boost {
namespace {

constexpr std::size_t kChunkUnits = 32 * kBlockUnits;
// In average units: what is added to a leaf's second derivatives; likewise for categories.
constexpr double kRidge = 1.0;
constexpr double kLevelSmooth = 10.0;
constexpr double kLevelRidge = 10.0;
// A leaf of money takes this share of its step: sums of exponentials overshoot.
constexpr double kMoneyPace = 0.5;
// Units of an arm, with the outcome of all arms, that its own mean is mixed with at the start.
constexpr double kPriorUnits = 10.0;

template <class Body>
void for_chunks(bool in_parallel, core::RunContext& context, std::size_t size, const Body& body) {
  if (in_parallel) return core::for_each_chunk(context, size, kChunkUnits, body);
  for (std::size_t begin = 0, chunk = 0; begin < size; begin += kChunkUnits, ++chunk)
    body(begin, std::min(size, begin + kChunkUnits), chunk);
}

std::vector<ColumnKind> column_kinds(const BinnedUnits& units, const BagData& data) {
  std::vector<ColumnKind> kinds;
  for (std::size_t column = 0; column < units.num_features(); ++column)
    kinds.push_back(units.is_category(column) ? ColumnKind::category : ColumnKind::number);
  kinds.push_back(data.rises_with_arm ? ColumnKind::rising_arms
                  : data.arms_ordered ? ColumnKind::graded_arms
                                      : ColumnKind::arms);
  return kinds;
}

struct ArmMeans {
  std::vector<double> means;    // of each arm: its weighted mean outcome, mixed with that of all
  std::vector<double> weights;  // of its units
  double overall = 0.0;
};
ArmMeans arm_means(const BagData& data) {
  std::vector<double> sums(data.num_arms), weights(data.num_arms), units(data.num_arms);
  for (std::size_t unit = 0; unit < data.arm.size(); ++unit) {
    if (data.weight[unit] == 0.0f) continue;
    const auto weight = static_cast<double>(data.weight[unit]);
    sums[data.arm[unit]] += weight * static_cast<double>(data.observed[unit]);
    weights[data.arm[unit]] += weight;
    units[data.arm[unit]] += 1.0;
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  ArmMeans result{.means = {}, .weights = weights};
  result.overall = total > 0.0 ? std::accumulate(sums.begin(), sums.end(), 0.0) / total : 0.0;
  for (std::size_t arm = 0; arm < data.num_arms; ++arm) {
    const double prior = units[arm] > 0.0 ? kPriorUnits * weights[arm] / units[arm] : 1.0;
    result.means.push_back((sums[arm] + prior * result.overall) / (weights[arm] + prior));
  }
  return result;
}

}  // namespace

BoostedBag::BoostedBag(const BinnedUnits& units, BagData data, const BoostOptions& options)
    : units_(units), data_(std::move(data)), options_(options), grower_(units, column_kinds(units, data_)) {
  const std::size_t padded = units.padded_units();
  raw_.resize(padded);
  gradient_.resize(padded);
  hessian_.resize(padded);
  sums_.resize(padded);
  if (grower_.needs_halves()) half_sums_.resize(padded);
  arm_gains_.assign(units.num_columns(), 0.0);
  for (const float weight : data_.weight) {
    num_training_ += weight > 0.0f ? 1 : 0;
    total_weight_ += static_cast<double>(weight);
  }
  weigh_arms();
  start();
}

void BoostedBag::weigh_arms() {
  arm_weights_.resize(data_.num_arms + 1);
  const double average = total_weight_ / static_cast<double>(std::max<std::size_t>(1, num_training_));
  for (std::size_t unit = 0; unit < data_.weight.size(); ++unit) {
    if (data_.weight[unit] == 0.0f) continue;
    const double weight = static_cast<double>(data_.weight[unit]) / average;
    ArmWeight& arm = arm_weights_[arm_bin(data_.arm[unit])];
    arm.sum += weight;
    arm.squares += weight * weight;
  }
}

void BoostedBag::start() {
  auto [means, weights, overall] = arm_means(data_);
  if (data_.rises_with_arm) learn::make_rising(weights, means);
  for (const double mean : means) arm_base_.push_back(raw_of(data_.kind, mean));
  const float raw = raw_of(data_.kind, overall);
  bag_.base = data_.starts_at_arms ? arm_base_ : std::vector<float>(data_.num_arms, raw);
  for (std::size_t unit = 0; unit < units_.num_units(); ++unit) raw_[unit] = bag_.base[data_.arm[unit]];
  settled_ = (data_.kind != loss::OutcomeKind::real && std::abs(raw) == -kNeverRaw) || num_training_ == 0;
  keep();
}

void BoostedBag::differentiate(bool in_parallel, core::RunContext& context) {
  struct Totals {
    double gradient = 0.0;
    double hessian = 0.0;
  };
  const std::size_t size = units_.num_units();
  std::vector<Totals> parts((size + kChunkUnits - 1) / kChunkUnits);
  for_chunks(in_parallel, context, size, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
    const auto part = [&](auto& values) { return std::span(values).subspan(begin, end - begin); };
    derivatives(data_.kind, part(std::as_const(raw_)), data_.observed.subspan(begin, end - begin),
                part(std::as_const(data_.weight)), {part(gradient_), part(hessian_)});
    Totals& totals = parts[chunk];
    for (std::size_t unit = begin; unit < end; ++unit) {
      totals.gradient += static_cast<double>(std::abs(gradient_[unit]));
      totals.hessian += static_cast<double>(hessian_[unit]);
    }
  });
  Totals totals;
  for (const Totals& part : parts) {
    totals.gradient += part.gradient;
    totals.hessian += part.hessian;
  }
  rules_.steps = steps_for(totals.gradient, totals.hessian, size);
  const double average = totals.hessian / static_cast<double>(num_training_);
  rules_.ridge = kRidge * average;
  rules_.least_hessian = static_cast<double>(options_.min_leaf) * average;
  rules_.level_smooth = kLevelSmooth * average;
  rules_.level_ridge = kLevelRidge * average;
  rules_.arm_weights = arm_weights_;
  const std::uint64_t half_key = core::combine_hashes(core::combine_hashes(data_.seed, rounds_), 1);
  const std::vector<std::uint32_t>& group = data_.cluster.empty() ? data_.row : data_.cluster;
  const double per_gradient = 1.0 / rules_.steps.gradient;
  const double per_hessian = 1.0 / rules_.steps.hessian;
  for_chunks(in_parallel, context, size, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t unit = begin; unit < end; ++unit) {
      const double gradient = static_cast<double>(gradient_[unit]) * per_gradient;
      const auto steps = static_cast<std::int32_t>(gradient + (gradient < 0.0 ? -0.5 : 0.5));
      const auto hessian = static_cast<std::int32_t>(static_cast<double>(hessian_[unit]) * per_hessian + 0.5);
      sums_[unit] = pack(steps, hessian);
    }
    if (half_sums_.empty()) return;
    for (std::size_t unit = begin; unit < end; ++unit)
      half_sums_[unit] = (core::mix_bits(half_key ^ group[unit]) & 1) != 0 ? sums_[unit] : 0;
  });
}

void BoostedBag::choose_rows(bool in_parallel, core::RunContext& context) {
  const std::size_t size = units_.num_units();
  const std::uint64_t key = core::combine_hashes(data_.seed, rounds_);
  const bool all = options_.row_share >= 1.0;
  const auto most = static_cast<std::uint64_t>(options_.row_share * 0x1.0p63);
  std::vector<std::size_t> counts((size + kChunkUnits - 1) / kChunkUnits);
  rows_.resize(size);
  for_chunks(in_parallel, context, size, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
    std::uint32_t* to = rows_.data() + begin;
    for (std::size_t unit = begin; unit < end; ++unit) {
      *to = static_cast<std::uint32_t>(unit);
      const bool drawn = all || (core::mix_bits(key ^ data_.row[unit]) >> 1) < most;
      to += drawn && data_.weight[unit] > 0.0f ? 1 : 0;
    }
    counts[chunk] = static_cast<std::size_t>(to - (rows_.data() + begin));
  });
  std::size_t count = 0;
  for (std::size_t chunk = 0; chunk < counts.size(); ++chunk) {
    std::copy_n(rows_.data() + chunk * kChunkUnits, counts[chunk], rows_.data() + count);
    count += counts[chunk];
  }
  rows_.resize(count);
}

std::vector<std::uint32_t> BoostedBag::choose_columns() const {
  const std::size_t num_features = units_.num_features();
  std::vector<std::uint32_t> columns(num_features);
  std::iota(columns.begin(), columns.end(), 0u);
  const auto wanted = std::clamp<std::size_t>(
      static_cast<std::size_t>(std::lround(options_.feature_share * static_cast<double>(num_features))), 1,
      std::max<std::size_t>(1, num_features));
  if (wanted < num_features) {
    core::RandomStream random(data_.seed, core::stream_purpose("features of a boosted tree"), rounds_);
    for (std::size_t i = 0; i < wanted; ++i)
      std::swap(columns[i], columns[i + random.below(static_cast<std::uint32_t>(num_features - i))]);
    columns.resize(wanted);
    std::sort(columns.begin(), columns.end());
  }
  columns.push_back(static_cast<std::uint32_t>(units_.arm_column()));
  return columns;
}

void BoostedBag::add_tree(GrownTree grown, bool in_parallel, core::RunContext& context) {
  const double pace = data_.kind == loss::OutcomeKind::non_negative ? kMoneyPace : 1.0;
  for (float& value : grown.tree.values) {
    value = static_cast<float>(options_.learning_rate * pace * leaf_step(data_.kind, static_cast<double>(value)));
  }
  for (std::size_t column = 0; column < arm_gains_.size(); ++column) arm_gains_[column] += grown.arm_gains[column];
  const LeafMasks masks(grown.tree, units_.arm_column(), 0);
  for_chunks(in_parallel, context, units_.padded_units(), [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t unit = begin; unit < end; unit += kBlockUnits)
      masks.add_values({units_.column(0) + unit, units_.padded_units()}, raw_.data() + unit);
  });
  bag_.trees.push_back(std::move(grown.tree));
}

void BoostedBag::keep() {
  best_trees_ = bag_.trees.size();
  best_gains_ = arm_gains_;
}

double BoostedBag::training_loss(core::RunContext& context) const {
  const std::size_t count = units_.num_units();
  std::vector<double> losses(count);
  core::for_each_chunk(context, count, kChunkUnits, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t unit = begin; unit < end; ++unit) {
      if (data_.weight[unit] == 0.0f) continue;
      losses[unit] = loss_at(data_.kind, static_cast<double>(raw_[unit]), static_cast<double>(data_.observed[unit]));
    }
  });
  double sum = 0.0;
  for (std::size_t unit = 0; unit < count; ++unit) {
    if (data_.weight[unit] != 0.0f) sum += static_cast<double>(data_.weight[unit]) * losses[unit];
  }
  return total_weight_ > 0.0 ? sum / total_weight_ : 0.0;
}

bool BoostedBag::grow(bool in_parallel, core::RunContext& context) {
  if (settled_) return false;
  differentiate(in_parallel, context);
  choose_rows(in_parallel, context);
  const std::vector<std::uint32_t> columns = choose_columns();
  GrownTree grown = grower_.grow(rows_, sums_, half_sums_, columns, rules_, {options_.leaves, in_parallel}, context);
  ++rounds_;
  if (grown.tree.values.size() <= 1) return false;
  add_tree(std::move(grown), in_parallel, context);
  return true;
}

Bag BoostedBag::bag() const {
  if (!keeps_trees()) return arm_means_alone();
  return {bag_.base, {bag_.trees.begin(), bag_.trees.begin() + static_cast<std::ptrdiff_t>(best_trees_)}};
}

}  // namespace dfcl::boost
