// SPDX-License-Identifier: Apache-2.0
#include "dfcl/trees/tree_bytes.h"

namespace dfcl::trees {
namespace {

void append(std::vector<std::uint8_t>& bytes, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
}

std::uint64_t number_at(const std::uint8_t* bytes, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) number |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  return number;
}

}  // namespace

void append_nodes(std::span<const Node> nodes, std::vector<std::uint8_t>& bytes) {
  for (const Node& node : nodes) {
    append(bytes, node.next, 4);
    append(bytes, node.set, 4);
    append(bytes, node.feature, 2);
    append(bytes, node.last_left, 1);
    append(bytes, node.missing_left, 1);
  }
}

void append_sets(std::span<const BinSet> sets, std::vector<std::uint8_t>& bytes) {
  for (const BinSet& set : sets) {
    for (const std::uint64_t word : set) append(bytes, word, 8);
  }
}

std::optional<std::vector<Node>> nodes_of(std::span<const std::uint8_t> bytes) {
  if (bytes.size() % kNodeBytes != 0) return std::nullopt;
  std::vector<Node> nodes;
  nodes.reserve(bytes.size() / kNodeBytes);
  for (std::size_t i = 0; i < bytes.size(); i += kNodeBytes) {
    const std::uint8_t* const at = bytes.data() + i;
    nodes.push_back({static_cast<std::uint32_t>(number_at(at, 4)), static_cast<std::uint32_t>(number_at(at + 4, 4)),
                     static_cast<std::uint16_t>(number_at(at + 8, 2)), at[10], at[11]});
  }
  return nodes;
}

std::optional<std::vector<BinSet>> sets_of(std::span<const std::uint8_t> bytes) {
  if (bytes.size() % kSetBytes != 0) return std::nullopt;
  std::vector<BinSet> sets(bytes.size() / kSetBytes);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    for (std::size_t word = 0; word < sets[i].size(); ++word)
      sets[i][word] = number_at(bytes.data() + i * kSetBytes + 8 * word, 8);
  }
  return sets;
}

FlatBins flat_bins(std::span<const FeatureBins> features) {
  FlatBins flat;
  for (const FeatureBins& bins : features) {
    flat.sizes.insert(flat.sizes.end(), {bins.categorical ? 1 : 0, static_cast<std::int64_t>(bins.cuts.size()),
                                         static_cast<std::int64_t>(bins.level_bin.size())});
    flat.cuts.insert(flat.cuts.end(), bins.cuts.begin(), bins.cuts.end());
    flat.levels.insert(flat.levels.end(), bins.level_bin.begin(), bins.level_bin.end());
  }
  return flat;
}

std::optional<std::vector<FeatureBins>> bins_of(std::span<const std::int64_t> sizes, std::span<const float> cuts,
                                                std::span<const std::uint8_t> levels) {
  if (sizes.size() % 3 != 0) return std::nullopt;
  std::vector<FeatureBins> features;
  for (; !sizes.empty(); sizes = sizes.subspan(3)) {
    const auto categorical = count_of(sizes[0], 1);
    const auto num_cuts = count_of(sizes[1], cuts.size());
    const auto num_levels = count_of(sizes[2], levels.size());
    if (!categorical || !num_cuts || !num_levels) return std::nullopt;
    const auto own_cuts = cuts.first(*num_cuts);
    const auto own_levels = levels.first(*num_levels);
    features.push_back({*categorical == 1, {own_cuts.begin(), own_cuts.end()}, {own_levels.begin(), own_levels.end()}});
    cuts = cuts.subspan(*num_cuts);
    levels = levels.subspan(*num_levels);
  }
  if (!cuts.empty() || !levels.empty()) return std::nullopt;
  return features;
}

std::optional<std::size_t> count_of(std::int64_t number, std::size_t most) {
  if (number < 0 || static_cast<std::uint64_t>(number) > most) return std::nullopt;
  return static_cast<std::size_t>(number);
}

}  // namespace dfcl::trees
