// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/boost_tensors.h"

#include "dfcl/io/tensors/strict_json.h"
#include "dfcl/learn/facts_json.h"
#include "dfcl/trees/tree_bytes.h"

namespace dfcl::boost {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Whole = std::vector<std::int64_t>;
using Real = std::vector<float>;
using Double = std::vector<double>;

using trees::kNodeBytes;
using trees::kSetBytes;

constexpr int kMostDepth = 3;              // of JSON
constexpr const char* kScales = "scales";  // center and scale of revenue and of cost
constexpr const char* kImportance = "importance";
constexpr const char* kBinSizes = "bins.sizes";  // of each feature: categorical, cuts, levels
constexpr const char* kCuts = "bins.cuts";
constexpr const char* kLevels = "bins.levels";

std::size_t count_of(std::int64_t number, std::size_t most, const std::string& name, const learn::PartReader& part) {
  const std::optional<std::size_t> count = trees::count_of(number, most);
  if (!count) part.refuse_tensor(name);
  return *count;
}

void put_bins(const learn::PartWriter& part, const std::vector<trees::FeatureBins>& features) {
  const trees::FlatBins flat = trees::flat_bins(features);
  part.tensor(kBinSizes, {features.size(), 3}, flat.sizes);
  part.tensor(kCuts, {flat.cuts.size()}, flat.cuts);
  part.tensor(kLevels, {flat.levels.size()}, flat.levels);
}

std::vector<trees::FeatureBins> bins_of(const learn::PartReader& part) {
  auto bins = trees::bins_of(part.values<Whole>(kBinSizes), part.values<Real>(kCuts), part.values<Bytes>(kLevels));
  if (!bins) part.refuse_tensor(kBinSizes);
  return std::move(*bins);
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
      trees::append_nodes(tree.nodes, nodes);
      trees::append_sets(std::span(tree.sets).subspan(1), sets);
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
      : part_(part), names_(names), sizes_(part.values<Whole>(names.sizes)), values_(part.values<Real>(names.values)) {
    auto nodes = trees::nodes_of(part.values<Bytes>(names.nodes));
    auto sets = trees::sets_of(part.values<Bytes>(names.sets));
    if (sizes_.size() % 3 != 0) part.refuse_tensor(names.sizes);
    if (!nodes) part.refuse_tensor(names.nodes);
    if (!sets) part.refuse_tensor(names.sets);
    nodes_ = std::move(*nodes);
    sets_ = std::move(*sets);
  }

  std::size_t trees_left() const { return (sizes_.size() - size_) / 3; }
  bool at_end() const {
    return trees_left() == 0 && node_ == nodes_.size() && set_ == sets_.size() && value_ == values_.size();
  }

  Tree next() {
    const auto nodes = taken(nodes_, node_);
    const auto sets = taken(sets_, set_);
    const auto values = taken(values_, value_);
    Tree tree{{nodes.begin(), nodes.end()}, {trees::BinSet{}}, {values.begin(), values.end()}};
    tree.sets.insert(tree.sets.end(), sets.begin(), sets.end());
    return tree;
  }

 private:
  // As many as the next size says, from the place on.
  template <class Value>
  std::span<const Value> taken(const std::vector<Value>& all, std::size_t& place) {
    const std::size_t count = count_of(sizes_[size_++], all.size() - place, names_.sizes, part_);
    const auto values = std::span(all).subspan(place, count);
    place += count;
    return values;
  }

  const learn::PartReader& part_;
  const Names& names_;
  const Whole& sizes_;
  const Real& values_;
  std::vector<trees::Node> nodes_;
  std::vector<trees::BinSet> sets_;
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
