// SPDX-License-Identifier: Apache-2.0
#include "dfcl/forest/forest_tensors.h"

#include <fmt/format.h>

#include <bit>
#include <limits>

#include "dfcl/core/error.h"
#include "dfcl/trees/tree_bytes.h"

namespace dfcl::forest {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Whole = std::vector<std::int64_t>;
using Real = std::vector<float>;
using Double = std::vector<double>;

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

std::size_t count_of(std::int64_t number, std::size_t most, const char* name, const learn::PartReader& part) {
  const std::optional<std::size_t> count = trees::count_of(number, most);
  if (!count) part.refuse_tensor(name);
  return *count;
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
  const trees::FlatBins flat = trees::flat_bins(forest.bins);
  part.tensor(kBinSizes, {forest.bins.size(), 3}, flat.sizes);
  part.tensor(kCuts, {flat.cuts.size()}, flat.cuts);
  part.tensor(kLevels, {flat.levels.size()}, flat.levels);
}

// What was read of a tensor.
template <class Value>
Value read(std::optional<Value> value, const char* name, const learn::PartReader& part) {
  if (!value) part.refuse_tensor(name);
  return std::move(*value);
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
  trees::append_nodes(forest.nodes, nodes);
  part.tensor(kNodes, {forest.nodes.size(), trees::kNodeBytes}, std::move(nodes));
  Bytes sets;
  trees::append_sets(forest.sets, sets);
  part.tensor(kSets, {forest.sets.size(), trees::kSetBytes}, std::move(sets));
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
  forest.nodes = read(trees::nodes_of(part.values<Bytes>(kNodes)), kNodes, part);
  forest.sets = read(trees::sets_of(part.values<Bytes>(kSets)), kSets, part);
  forest.leaves = arms_of(part, kLeaves);
  forest.overall = arms_of(part, kOverall);
  forest.importance = part.values<Real>(kImportance);
  forest.bins =
      read(trees::bins_of(part.values<Whole>(kBinSizes), part.values<Real>(kCuts), part.values<Bytes>(kLevels)),
           kBinSizes, part);
  return forest;
}

}  // namespace dfcl::forest
