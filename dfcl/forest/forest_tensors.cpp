// SPDX-License-Identifier: Apache-2.0
#include "dfcl/forest/forest_tensors.h"

#include <fmt/format.h>

#include <bit>
#include <limits>

#include "dfcl/core/error.h"

namespace dfcl::forest {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Whole = std::vector<std::int64_t>;
using Real = std::vector<float>;
using Double = std::vector<double>;

constexpr std::size_t kNodeBytes = 12;  // next (4), set (4), feature (2), last_left, missing_left; lowest byte first
constexpr std::size_t kSetBytes = 32;
constexpr const char* kShape = "shape";    // arms, control, links of revenue and cost, seed
constexpr const char* kScales = "scales";  // subsample, least bases of revenue and cost
constexpr const char* kNodes = "nodes";
constexpr const char* kRoots = "roots";
constexpr const char* kSets = "sets";
constexpr const char* kLeaves = "leaves";  // weight, revenue, cost of each leaf and arm
constexpr const char* kOverall = "overall";
constexpr const char* kImportance = "importance";
constexpr const char* kBinSizes = "bins.sizes";  // of each feature: categorical, cuts, levels
constexpr const char* kCuts = "bins.cuts";
constexpr const char* kLevels = "bins.levels";

void append(Bytes& bytes, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
}
std::uint64_t number_at(const std::uint8_t* bytes, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) number |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  return number;
}

std::size_t count_of(std::int64_t number, std::size_t most, const char* name, const learn::PartReader& part) {
  if (number < 0 || static_cast<std::uint64_t>(number) > most) part.refuse_tensor(name);
  return static_cast<std::size_t>(number);
}

Real flat(const std::vector<LeafArm>& arms) {
  Real values;
  for (const LeafArm& arm : arms) values.insert(values.end(), {arm.weight, arm.revenue, arm.cost});
  return values;
}
std::vector<LeafArm> arms_of(const learn::PartReader& part, const char* name) {
  const Real& values = part.values<Real>(name);
  if (values.size() % 3 != 0) part.refuse_tensor(name);
  std::vector<LeafArm> arms;
  for (std::size_t i = 0; i < values.size(); i += 3) arms.push_back({values[i], values[i + 1], values[i + 2]});
  return arms;
}

void put_bins(const learn::PartWriter& part, const Forest& forest) {
  Whole sizes;
  Real cuts;
  Bytes levels;
  for (const FeatureBins& bins : forest.bins) {
    sizes.insert(sizes.end(), {bins.categorical ? 1 : 0, static_cast<std::int64_t>(bins.cuts.size()),
                               static_cast<std::int64_t>(bins.level_bin.size())});
    cuts.insert(cuts.end(), bins.cuts.begin(), bins.cuts.end());
    levels.insert(levels.end(), bins.level_bin.begin(), bins.level_bin.end());
  }
  part.tensor(kBinSizes, {forest.bins.size(), 3}, sizes);
  part.tensor(kCuts, {cuts.size()}, cuts);
  part.tensor(kLevels, {levels.size()}, levels);
}

std::vector<FeatureBins> bins_of(const learn::PartReader& part) {
  const Whole& sizes = part.values<Whole>(kBinSizes);
  const Real& cuts = part.values<Real>(kCuts);
  const Bytes& levels = part.values<Bytes>(kLevels);
  if (sizes.size() % 3 != 0) part.refuse_tensor(kBinSizes);
  std::vector<FeatureBins> features;
  auto cut = cuts.begin();
  auto level = levels.begin();
  for (std::size_t i = 0; i < sizes.size(); i += 3) {
    FeatureBins& bins = features.emplace_back();
    bins.categorical = count_of(sizes[i], 1, kBinSizes, part) == 1;
    const auto num_cuts = static_cast<std::ptrdiff_t>(
        count_of(sizes[i + 1], static_cast<std::size_t>(cuts.end() - cut), kBinSizes, part));
    const auto num_levels = static_cast<std::ptrdiff_t>(
        count_of(sizes[i + 2], static_cast<std::size_t>(levels.end() - level), kBinSizes, part));
    bins.cuts.assign(cut, cut + num_cuts);
    bins.level_bin.assign(level, level + num_levels);
    cut += num_cuts;
    level += num_levels;
  }
  return features;
}

}  // namespace

void put_forest(const learn::PartWriter& part, const Forest& forest) {
  part.tensor(kShape, {5},
              Whole{static_cast<std::int64_t>(forest.num_arms), static_cast<std::int64_t>(forest.control),
                    static_cast<std::int64_t>(forest.revenue_link), static_cast<std::int64_t>(forest.cost_link),
                    std::bit_cast<std::int64_t>(forest.seed)});
  part.tensor(kScales, {3}, Double{forest.subsample, forest.least_base_revenue, forest.least_base_cost});
  part.tensor(kRoots, {forest.roots.size()}, Whole(forest.roots.begin(), forest.roots.end()));
  Bytes nodes;
  for (const Node& node : forest.nodes) {
    append(nodes, node.next, 4);
    append(nodes, node.set, 4);
    append(nodes, node.feature, 2);
    append(nodes, node.last_left, 1);
    append(nodes, node.missing_left, 1);
  }
  part.tensor(kNodes, {forest.nodes.size(), kNodeBytes}, std::move(nodes));
  Bytes sets;
  for (const BinSet& set : forest.sets)
    for (const std::uint64_t word : set) append(sets, word, 8);
  part.tensor(kSets, {forest.sets.size(), kSetBytes}, std::move(sets));
  part.tensor(kLeaves, {forest.num_leaves(), forest.num_arms, 3}, flat(forest.leaves));
  part.tensor(kOverall, {forest.num_arms, 3}, flat(forest.overall));
  part.tensor(kImportance, {forest.importance.size()}, forest.importance);
  put_bins(part, forest);
}

Forest forest_of(const learn::PartReader& part) {
  Forest forest;
  const Whole& shape = part.values<Whole>(kShape);
  const Double& scales = part.values<Double>(kScales);
  if (shape.size() != 5) part.refuse_tensor(kShape);
  if (scales.size() != 3) part.refuse_tensor(kScales);
  forest.num_arms = count_of(shape[0], 255, kShape, part);
  forest.control = count_of(shape[1], 255, kShape, part);
  forest.revenue_link = static_cast<Link>(count_of(shape[2], 1, kShape, part));
  forest.cost_link = static_cast<Link>(count_of(shape[3], 1, kShape, part));
  forest.seed = std::bit_cast<std::uint64_t>(shape[4]);
  forest.subsample = scales[0];
  forest.least_base_revenue = scales[1];
  forest.least_base_cost = scales[2];
  for (const std::int64_t root : part.values<Whole>(kRoots))
    forest.roots.push_back(
        static_cast<std::uint32_t>(count_of(root, std::numeric_limits<std::uint32_t>::max(), kRoots, part)));
  const Bytes& nodes = part.values<Bytes>(kNodes);
  if (nodes.size() % kNodeBytes != 0) part.refuse_tensor(kNodes);
  for (std::size_t i = 0; i < nodes.size(); i += kNodeBytes) {
    const std::uint8_t* bytes = nodes.data() + i;
    forest.nodes.push_back({static_cast<std::uint32_t>(number_at(bytes, 4)),
                            static_cast<std::uint32_t>(number_at(bytes + 4, 4)),
                            static_cast<std::uint16_t>(number_at(bytes + 8, 2)), bytes[10], bytes[11]});
  }
  const Bytes& sets = part.values<Bytes>(kSets);
  if (sets.size() % kSetBytes != 0) part.refuse_tensor(kSets);
  for (std::size_t i = 0; i < sets.size(); i += kSetBytes) {
    BinSet& set = forest.sets.emplace_back();
    for (std::size_t word = 0; word < set.size(); ++word) set[word] = number_at(sets.data() + i + 8 * word, 8);
  }
  forest.leaves = arms_of(part, kLeaves);
  forest.overall = arms_of(part, kOverall);
  forest.importance = part.values<Real>(kImportance);
  forest.bins = bins_of(part);
  return forest;
}

}  // namespace dfcl::forest
