// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/boost_tensors.h"

#include "dfcl/io/tensors/strict_json.h"
#include "dfcl/learn/facts_json.h"

namespace dfcl::boost {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Whole = std::vector<std::int64_t>;
using Real = std::vector<float>;
using Double = std::vector<double>;

constexpr int kMostDepth = 3;           // of JSON
constexpr std::size_t kNodeBytes = 12;  // next (4), set (4), feature (2), last_left, missing_left; lowest byte first
constexpr std::size_t kSetBytes = 32;
constexpr const char* kScales = "scales";  // center and scale of revenue and of cost
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

std::size_t count_of(std::int64_t number, std::size_t most, const std::string& name, const learn::PartReader& part) {
  if (number < 0 || static_cast<std::uint64_t>(number) > most) part.refuse_tensor(name);
  return static_cast<std::size_t>(number);
}

void put_bins(const learn::PartWriter& part, const std::vector<trees::FeatureBins>& features) {
  Whole sizes;
  Real cuts;
  Bytes levels;
  for (const trees::FeatureBins& bins : features) {
    sizes.insert(sizes.end(), {bins.categorical ? 1 : 0, static_cast<std::int64_t>(bins.cuts.size()),
                               static_cast<std::int64_t>(bins.level_bin.size())});
    cuts.insert(cuts.end(), bins.cuts.begin(), bins.cuts.end());
    levels.insert(levels.end(), bins.level_bin.begin(), bins.level_bin.end());
  }
  part.tensor(kBinSizes, {features.size(), 3}, sizes);
  part.tensor(kCuts, {cuts.size()}, cuts);
  part.tensor(kLevels, {levels.size()}, levels);
}

std::vector<trees::FeatureBins> bins_of(const learn::PartReader& part) {
  const Whole& sizes = part.values<Whole>(kBinSizes);
  const Real& cuts = part.values<Real>(kCuts);
  const Bytes& levels = part.values<Bytes>(kLevels);
  if (sizes.size() % 3 != 0) part.refuse_tensor(kBinSizes);
  std::vector<trees::FeatureBins> features;
  auto cut = cuts.begin();
  auto level = levels.begin();
  for (std::size_t i = 0; i < sizes.size(); i += 3) {
    trees::FeatureBins& bins = features.emplace_back();
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
  if (cut != cuts.end() || level != levels.end()) part.refuse_tensor(kBinSizes);
  return features;
}

// Names of an outcome's tensors: trees of each bag; base of each bag and arm; of each tree its nodes, sets and leaves;
// and these.
struct Names {
  explicit Names(const std::string& outcome)
      : bags(outcome + ".bags"),
        bases(outcome + ".bases"),
        sizes(outcome + ".trees"),
        nodes(outcome + ".nodes"),
        sets(outcome + ".sets"),
        values(outcome + ".values") {}
  std::string bags, bases, sizes, nodes, sets, values;
};

void put_bags(const learn::PartWriter& part, const std::string& outcome, const std::vector<Bag>& list,
              std::size_t num_arms) {
  const Names names(outcome);
  Whole bags, sizes;
  Real bases, values;
  Bytes nodes, sets;
  for (const Bag& bag : list) {
    bags.push_back(static_cast<std::int64_t>(bag.trees.size()));
    bases.insert(bases.end(), bag.base.begin(), bag.base.end());
    for (const Tree& tree : bag.trees) {
      sizes.insert(sizes.end(),
                   {static_cast<std::int64_t>(tree.nodes.size()), static_cast<std::int64_t>(tree.sets.size()) - 1,
                    static_cast<std::int64_t>(tree.values.size())});
      for (const trees::Node& node : tree.nodes) {
        append(nodes, node.next, 4);
        append(nodes, node.set, 4);
        append(nodes, node.feature, 2);
        append(nodes, node.last_left, 1);
        append(nodes, node.missing_left, 1);
      }
      for (std::size_t set = 1; set < tree.sets.size(); ++set) {
        for (const std::uint64_t word : tree.sets[set]) append(sets, word, 8);
      }
      values.insert(values.end(), tree.values.begin(), tree.values.end());
    }
  }
  part.tensor(names.bags, {bags.size()}, bags);
  part.tensor(names.bases, {list.size(), num_arms}, bases);
  part.tensor(names.sizes, {sizes.size() / 3, 3}, sizes);
  part.tensor(names.nodes, {nodes.size() / kNodeBytes, kNodeBytes}, nodes);
  part.tensor(names.sets, {sets.size() / kSetBytes, kSetBytes}, sets);
  part.tensor(names.values, {values.size()}, values);
}

// Takes trees off the front of an outcome's tensors.
class TreeReader {
 public:
  TreeReader(const learn::PartReader& part, const Names& names)
      : part_(part),
        names_(names),
        sizes_(part.values<Whole>(names.sizes)),
        nodes_(part.values<Bytes>(names.nodes)),
        sets_(part.values<Bytes>(names.sets)),
        values_(part.values<Real>(names.values)) {
    if (sizes_.size() % 3 != 0) part.refuse_tensor(names.sizes);
    if (nodes_.size() % kNodeBytes != 0) part.refuse_tensor(names.nodes);
    if (sets_.size() % kSetBytes != 0) part.refuse_tensor(names.sets);
  }

  std::size_t trees_left() const { return (sizes_.size() - size_) / 3; }
  bool at_end() const {
    return trees_left() == 0 && node_ == nodes_.size() && set_ == sets_.size() && value_ == values_.size();
  }

  Tree next() {
    Tree tree;
    const std::size_t num_nodes = take(nodes_.size() - node_, kNodeBytes);
    const std::size_t num_sets = take(sets_.size() - set_, kSetBytes);
    const std::size_t num_values = take(values_.size() - value_, 1);
    for (std::size_t i = 0; i < num_nodes; ++i, node_ += kNodeBytes) {
      const std::uint8_t* bytes = nodes_.data() + node_;
      tree.nodes.push_back({static_cast<std::uint32_t>(number_at(bytes, 4)),
                            static_cast<std::uint32_t>(number_at(bytes + 4, 4)),
                            static_cast<std::uint16_t>(number_at(bytes + 8, 2)), bytes[10], bytes[11]});
    }
    tree.sets.emplace_back();
    for (std::size_t i = 0; i < num_sets; ++i, set_ += kSetBytes) {
      trees::BinSet& set = tree.sets.emplace_back();
      for (std::size_t word = 0; word < set.size(); ++word) set[word] = number_at(sets_.data() + set_ + 8 * word, 8);
    }
    for (std::size_t i = 0; i < num_values; ++i) tree.values.push_back(values_[value_++]);
    return tree;
  }

 private:
  std::size_t take(std::size_t left, std::size_t bytes) {
    return count_of(sizes_[size_++], left / bytes, names_.sizes, part_);
  }

  const learn::PartReader& part_;
  const Names& names_;
  const Whole& sizes_;
  const Bytes& nodes_;
  const Bytes& sets_;
  const Real& values_;
  std::size_t size_ = 0, node_ = 0, set_ = 0, value_ = 0;
};

std::vector<Bag> bags_of(const learn::PartReader& part, const std::string& outcome, std::size_t num_arms) {
  const Names names(outcome);
  const Whole& counts = part.values<Whole>(names.bags);
  const Real& bases = part.values<Real>(names.bases);
  if (num_arms == 0 || bases.size() % num_arms != 0 || bases.size() / num_arms != counts.size())
    part.refuse_tensor(names.bases);
  TreeReader reader(part, names);
  std::vector<Bag> bags;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    Bag& bag = bags.emplace_back();
    const auto base = bases.begin() + static_cast<std::ptrdiff_t>(i * num_arms);
    bag.base.assign(base, base + static_cast<std::ptrdiff_t>(num_arms));
    const std::size_t num_trees = count_of(counts[i], reader.trees_left(), names.bags, part);
    for (std::size_t tree = 0; tree < num_trees; ++tree) bag.trees.push_back(reader.next());
  }
  if (!reader.at_end()) part.refuse_tensor(names.sizes);
  return bags;
}

}  // namespace

void put_parts(const learn::PartWriter& part, const BoostParts& parts) {
  part.text("facts", learn::facts_json(parts.facts).dump());
  const auto& [revenue, cost] = parts.scales;
  part.tensor(kScales, {4}, Double{revenue.center, revenue.scale, cost.center, cost.scale});
  part.tensor(kImportance, {parts.importance.size()}, parts.importance);
  put_bins(part, parts.bins);
  put_bags(part, "revenue", parts.revenue, parts.num_arms());
  put_bags(part, "cost", parts.cost, parts.num_arms());
}

BoostParts parts_of(const learn::PartReader& part) {
  const nlohmann::json value = io::parse_strictly(part.text("facts"), kMostDepth, part.where());
  BoostParts parts;
  try {
    parts.facts = learn::both_facts_of(value);
  } catch (const std::exception&) {
    part.refuse("a model file with a malformed part 'facts'");
  }
  const Double& scales = part.values<Double>(kScales);
  if (scales.size() != 4) part.refuse_tensor(kScales);
  parts.scales = {{scales[0], scales[1]}, {scales[2], scales[3]}};
  parts.importance = part.values<Real>(kImportance);
  parts.bins = bins_of(part);
  parts.revenue = bags_of(part, "revenue", parts.num_arms());
  parts.cost = bags_of(part, "cost", parts.num_arms());
  return parts;
}

}  // namespace dfcl::boost
