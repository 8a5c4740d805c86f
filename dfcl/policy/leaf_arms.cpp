// SPDX-License-Identifier: Apache-2.0
#include "dfcl/policy/leaf_arms.h"

#include <algorithm>

namespace dfcl::policy {
namespace {

struct Choice {
  double cost = 0.0;
  double value = 0.0;
  std::uint64_t code = 0;  // digits: the options of the leaves so far, the last leaf first
};

// By rising cost, each worth more than all cheaper ones.
std::vector<Choice> undominated(std::vector<Choice> choices) {
  std::sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
    if (a.cost != b.cost) return a.cost < b.cost;
    return a.value != b.value ? a.value > b.value : a.code < b.code;
  });
  std::vector<Choice> kept;
  for (const Choice& choice : choices) {
    if (kept.empty() || choice.value > kept.back().value) kept.push_back(choice);
  }
  if (kept.size() <= kMostChoices) return kept;
  std::vector<Choice> fewer;
  for (std::size_t i = 0; i < kMostChoices; ++i) fewer.push_back(kept[i * (kept.size() - 1) / (kMostChoices - 1)]);
  return fewer;
}

}  // namespace

LeafArms choose_leaf_arms(const std::vector<std::vector<LeafOption>>& options, double budget) {
  std::uint64_t base = 1;
  for (const std::vector<LeafOption>& leaf : options) base = std::max<std::uint64_t>(base, leaf.size());
  std::vector<Choice> choices(1);
  for (const std::vector<LeafOption>& leaf : options) {
    std::vector<Choice> longer;
    longer.reserve(choices.size() * leaf.size());
    for (const Choice& choice : choices) {
      for (std::size_t option = 0; option < leaf.size(); ++option)
        longer.push_back(
            {choice.cost + leaf[option].cost, choice.value + leaf[option].value, choice.code * base + option});
    }
    choices = undominated(std::move(longer));
  }
  const Choice* best = &choices.front();
  for (const Choice& choice : choices) {
    if (choice.cost <= budget) best = &choice;  // value rises with cost
  }
  LeafArms arms{std::vector<std::uint8_t>(options.size()), best->value, best->cost, best->cost <= budget};
  std::uint64_t code = best->code;
  for (std::size_t leaf = options.size(); leaf-- > 0; code /= base)
    arms.option[leaf] = static_cast<std::uint8_t>(code % base);
  return arms;
}

}  // namespace dfcl::policy
