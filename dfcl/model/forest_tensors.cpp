// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/forest_tensors.h"

#include <fmt/format.h>

#include <bit>
#include <limits>

#include "dfcl/core/error.h"

namespace dfcl::model {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Whole = std::vector<std::int64_t>;
using Real = std::vector<float>;
using Double = std::vector<double>;

constexpr std::size_t kNodeBytes = 12;  // next (4), set (4), feature (2), last_left, missing_left; lowest byte first
constexpr std::size_t kSetBytes = 32;
constexpr const char* kShape = "forest.shape";    // arms, control, links of revenue and cost, seed
constexpr const char* kScales = "forest.scales";  // subsample, least bases of revenue and cost
constexpr const char* kNodes = "forest.nodes";
constexpr const char* kRoots = "forest.roots";
constexpr const char* kSets = "forest.sets";
constexpr const char* kLeaves = "forest.leaves";  // weight, revenue, cost of each leaf and arm
constexpr const char* kOverall = "forest.overall";
constexpr const char* kImportance = "forest.importance";
constexpr const char* kBinSizes = "forest.bins.sizes";  // of each feature: categorical, cuts, levels
constexpr const char* kCuts = "forest.bins.cuts";
constexpr const char* kLevels = "forest.bins.levels";

[[noreturn]] void refuse(const std::string& where, const char* name) {
  throw core::Error({.kind = core::ErrorKind::file,
                     .what = fmt::format("a model file with a malformed tensor '{}'", name),
                     .where = where});
}

template <class Values>
const Values& values_of(const TensorFile& file, const char* name, const std::string& where) {
  const Tensor* tensor = file.find(name);
  const Values* values = tensor == nullptr ? nullptr : std::get_if<Values>(&tensor->values);
  if (values == nullptr) refuse(where, name);
  return *values;
}

void append(Bytes& bytes, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
}
std::uint64_t number_at(const std::uint8_t* bytes, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) number |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  return number;
}

std::size_t count_of(std::int64_t number, std::size_t most, const char* name, const std::string& where) {
  if (number < 0 || static_cast<std::uint64_t>(number) > most) refuse(where, name);
  return static_cast<std::size_t>(number);
}

Real flat(const std::vector<forest::LeafArm>& arms) {
  Real values;
  for (const forest::LeafArm& arm : arms) values.insert(values.end(), {arm.weight, arm.revenue, arm.cost});
  return values;
}
std::vector<forest::LeafArm> arms_of(const TensorFile& file, const char* name, const std::string& where) {
  const Real& values = values_of<Real>(file, name, where);
  if (values.size() % 3 != 0) refuse(where, name);
  std::vector<forest::LeafArm> arms;
  for (std::size_t i = 0; i < values.size(); i += 3) arms.push_back({values[i], values[i + 1], values[i + 2]});
  return arms;
}

void put_bins(TensorFile& file, const forest::Forest& forest) {
  Whole sizes;
  Real cuts;
  Bytes levels;
  for (const forest::FeatureBins& bins : forest.bins) {
    sizes.insert(sizes.end(), {bins.categorical ? 1 : 0, static_cast<std::int64_t>(bins.cuts.size()),
                               static_cast<std::int64_t>(bins.level_bin.size())});
    cuts.insert(cuts.end(), bins.cuts.begin(), bins.cuts.end());
    levels.insert(levels.end(), bins.level_bin.begin(), bins.level_bin.end());
  }
  file.tensors.push_back({kBinSizes, {forest.bins.size(), 3}, sizes});
  file.tensors.push_back({kCuts, {cuts.size()}, cuts});
  file.tensors.push_back({kLevels, {levels.size()}, levels});
}

std::vector<forest::FeatureBins> bins_of(const TensorFile& file, const std::string& where) {
  const Whole& sizes = values_of<Whole>(file, kBinSizes, where);
  const Real& cuts = values_of<Real>(file, kCuts, where);
  const Bytes& levels = values_of<Bytes>(file, kLevels, where);
  if (sizes.size() % 3 != 0) refuse(where, kBinSizes);
  std::vector<forest::FeatureBins> features;
  auto cut = cuts.begin();
  auto level = levels.begin();
  for (std::size_t i = 0; i < sizes.size(); i += 3) {
    forest::FeatureBins& bins = features.emplace_back();
    bins.categorical = count_of(sizes[i], 1, kBinSizes, where) == 1;
    const auto num_cuts = static_cast<std::ptrdiff_t>(
        count_of(sizes[i + 1], static_cast<std::size_t>(cuts.end() - cut), kBinSizes, where));
    const auto num_levels = static_cast<std::ptrdiff_t>(
        count_of(sizes[i + 2], static_cast<std::size_t>(levels.end() - level), kBinSizes, where));
    bins.cuts.assign(cut, cut + num_cuts);
    bins.level_bin.assign(level, level + num_levels);
    cut += num_cuts;
    level += num_levels;
  }
  return features;
}

}  // namespace

void put_forest(TensorFile& file, const forest::Forest& forest) {
  file.tensors.push_back(
      {kShape,
       {5},
       Whole{static_cast<std::int64_t>(forest.num_arms), static_cast<std::int64_t>(forest.control),
             static_cast<std::int64_t>(forest.revenue_link), static_cast<std::int64_t>(forest.cost_link),
             std::bit_cast<std::int64_t>(forest.seed)}});
  file.tensors.push_back({kScales, {3}, Double{forest.subsample, forest.least_base_revenue, forest.least_base_cost}});
  file.tensors.push_back({kRoots, {forest.roots.size()}, Whole(forest.roots.begin(), forest.roots.end())});
  Bytes nodes;
  for (const forest::Node& node : forest.nodes) {
    append(nodes, node.next, 4);
    append(nodes, node.set, 4);
    append(nodes, node.feature, 2);
    append(nodes, node.last_left, 1);
    append(nodes, node.missing_left, 1);
  }
  file.tensors.push_back({kNodes, {forest.nodes.size(), kNodeBytes}, std::move(nodes)});
  Bytes sets;
  for (const forest::BinSet& set : forest.sets)
    for (const std::uint64_t word : set) append(sets, word, 8);
  file.tensors.push_back({kSets, {forest.sets.size(), kSetBytes}, std::move(sets)});
  file.tensors.push_back({kLeaves, {forest.num_leaves(), forest.num_arms, 3}, flat(forest.leaves)});
  file.tensors.push_back({kOverall, {forest.num_arms, 3}, flat(forest.overall)});
  file.tensors.push_back({kImportance, {forest.importance.size()}, forest.importance});
  put_bins(file, forest);
}

std::optional<forest::Forest> forest_of(const TensorFile& file, const std::string& where) {
  if (file.find(kNodes) == nullptr) return std::nullopt;
  forest::Forest forest;
  const Whole& shape = values_of<Whole>(file, kShape, where);
  const Double& scales = values_of<Double>(file, kScales, where);
  if (shape.size() != 5) refuse(where, kShape);
  if (scales.size() != 3) refuse(where, kScales);
  forest.num_arms = count_of(shape[0], 255, kShape, where);
  forest.control = count_of(shape[1], 255, kShape, where);
  forest.revenue_link = static_cast<forest::Link>(count_of(shape[2], 1, kShape, where));
  forest.cost_link = static_cast<forest::Link>(count_of(shape[3], 1, kShape, where));
  forest.seed = std::bit_cast<std::uint64_t>(shape[4]);
  forest.subsample = scales[0];
  forest.least_base_revenue = scales[1];
  forest.least_base_cost = scales[2];
  for (const std::int64_t root : values_of<Whole>(file, kRoots, where))
    forest.roots.push_back(
        static_cast<std::uint32_t>(count_of(root, std::numeric_limits<std::uint32_t>::max(), kRoots, where)));
  const Bytes& nodes = values_of<Bytes>(file, kNodes, where);
  if (nodes.size() % kNodeBytes != 0) refuse(where, kNodes);
  for (std::size_t i = 0; i < nodes.size(); i += kNodeBytes) {
    const std::uint8_t* bytes = nodes.data() + i;
    forest.nodes.push_back({static_cast<std::uint32_t>(number_at(bytes, 4)),
                            static_cast<std::uint32_t>(number_at(bytes + 4, 4)),
                            static_cast<std::uint16_t>(number_at(bytes + 8, 2)), bytes[10], bytes[11]});
  }
  const Bytes& sets = values_of<Bytes>(file, kSets, where);
  if (sets.size() % kSetBytes != 0) refuse(where, kSets);
  for (std::size_t i = 0; i < sets.size(); i += kSetBytes) {
    forest::BinSet& set = forest.sets.emplace_back();
    for (std::size_t word = 0; word < set.size(); ++word) set[word] = number_at(sets.data() + i + 8 * word, 8);
  }
  forest.leaves = arms_of(file, kLeaves, where);
  forest.overall = arms_of(file, kOverall, where);
  forest.importance = values_of<Real>(file, kImportance, where);
  forest.bins = bins_of(file, where);
  return forest;
}

}  // namespace dfcl::model
