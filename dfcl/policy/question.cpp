// SPDX-License-Identifier: Apache-2.0
#include "dfcl/policy/question.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace dfcl::policy {
namespace {

constexpr float kEndless = std::numeric_limits<float>::infinity();
constexpr std::size_t kMostNamed = 6;  // levels in a sentence; the rest are counted

// What a path allows of one feature.
struct Allowed {
  float above = -kEndless;  // numbers: more than this
  float up_to = kEndless;
  std::vector<std::uint8_t> levels = {};  // categories: per code
  bool missing = true;
};

void restrict(const Question& question, bool yes, Allowed& allowed) {
  allowed.missing = allowed.missing && question.missing_yes == yes;
  if (question.categorical) {
    if (allowed.levels.empty()) allowed.levels.assign(question.yes_levels.size(), 1);
    for (std::size_t level = 0; level < allowed.levels.size(); ++level)
      if ((question.yes_levels[level] != 0) != yes) allowed.levels[level] = 0;
  } else if (yes) {
    allowed.up_to = std::min(allowed.up_to, question.cut);
  } else {
    allowed.above = std::max(allowed.above, question.cut);
  }
}

std::string number_words(float cut, bool is_whole) {
  if (is_whole) return fmt::format("{}", std::floor(cut));
  return fmt::format("{}", cut);
}

// Levels that no unit had are not spoken of.
std::string level_words(const data::FeatureColumn& column, const std::vector<std::uint8_t>& seen,
                        const std::vector<std::uint8_t>& levels) {
  std::vector<std::string> in;
  std::vector<std::string> out;
  for (std::size_t level = 0; level < levels.size() && level < column.levels.size(); ++level) {
    if (level < seen.size() && seen[level] == 0) continue;
    (levels[level] != 0 ? in : out).push_back(column.levels[level]);
  }
  const bool says_out = out.size() < in.size();
  std::vector<std::string>& named = says_out ? out : in;
  std::string text = says_out ? " is not " : " is ";
  for (std::size_t i = 0; i < std::min(named.size(), kMostNamed); ++i) {
    const bool is_last = i + 1 == named.size();
    text += (i == 0 ? "" : is_last ? " or " : ", ") + named[i];
  }
  if (named.size() > kMostNamed) text += fmt::format(" or one of {} more", named.size() - kMostNamed);
  return text;
}

std::string words_of(const data::FeatureColumn& column, const FeatureTraits& traits, const Allowed& allowed) {
  std::string text = column.name;
  const bool any_number = allowed.up_to == kEndless && allowed.above == -kEndless;
  const bool no_number = allowed.up_to == -kEndless || allowed.above == kEndless;
  if (!allowed.levels.empty()) {
    const bool none = std::find(allowed.levels.begin(), allowed.levels.end(), 1) == allowed.levels.end();
    if (none) return text + " is missing";
    text += level_words(column, traits.seen_levels, allowed.levels);
  } else if (no_number) {
    return text + " is missing";
  } else if (any_number) {
    return text + (allowed.missing ? " is anything" : " is known");
  } else {
    if (allowed.above > -kEndless) text += " more than " + number_words(allowed.above, traits.is_whole);
    if (allowed.up_to < kEndless)
      text +=
          (allowed.above > -kEndless ? " and at most " : " at most ") + number_words(allowed.up_to, traits.is_whole);
  }
  if (allowed.missing && traits.has_missing) text += " or missing";
  return text;
}

struct Step {
  std::size_t node;
  bool yes;
};

std::string path_words(const SplitTree& tree, const std::vector<Step>& path,
                       const std::vector<data::FeatureColumn>& columns, std::span<const FeatureTraits> traits) {
  std::vector<std::uint32_t> features;  // in the order of their first question
  std::vector<Allowed> allowed;
  for (const Step& step : path) {
    const Question& question = tree.nodes[step.node].question;
    const auto found = std::find(features.begin(), features.end(), question.feature);
    const auto place = static_cast<std::size_t>(found - features.begin());
    if (found == features.end()) {
      features.push_back(question.feature);
      allowed.emplace_back();
    }
    restrict(question, step.yes, allowed[place]);
  }
  std::string text;
  for (std::size_t i = 0; i < features.size(); ++i)
    text += (i == 0 ? "" : " and ") + words_of(columns[features[i]], traits[features[i]], allowed[i]);
  return text.empty() ? "all" : text;
}

void add_words(const SplitTree& tree, std::size_t node, std::vector<Step>& path,
               const std::vector<data::FeatureColumn>& columns, std::span<const FeatureTraits> traits,
               data::QuestionTree& words) {
  const SplitNode& here = tree.nodes[node];
  data::QuestionNode& said = words.nodes[node];
  if (here.is_leaf()) {
    said.leaf = here.leaf;
    words.leaves[here.leaf] = path_words(tree, path, columns, traits);
    return;
  }
  Allowed asked;
  restrict(here.question, true, asked);
  said.question = words_of(columns[here.question.feature], traits[here.question.feature], asked);
  said.yes = here.yes;
  said.no = here.no;
  for (const bool yes : {true, false}) {
    path.push_back({node, yes});
    add_words(tree, yes ? here.yes : here.no, path, columns, traits, words);
    path.pop_back();
  }
}

}  // namespace

bool Question::holds(float value) const {
  if (!std::isfinite(value)) return missing_yes;
  if (!categorical) return value <= cut;
  // Codes that no reader makes count as the pool of unseen levels.
  const bool known = value >= 0.0f && value < static_cast<float>(yes_levels.size());
  return yes_levels[known ? static_cast<std::size_t>(value) : 0] != 0;
}

std::size_t SplitTree::leaf_of(std::span<const float> features) const {
  const SplitNode* node = &nodes[0];
  while (!node->is_leaf()) node = &nodes[node->question.holds(features[node->question.feature]) ? node->yes : node->no];
  return node->leaf;
}

void SplitTree::number_leaves() {
  std::uint32_t next = 0;
  std::vector<std::size_t> open = {0};
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    SplitNode& here = nodes[node];
    if (here.is_leaf()) {
      here.leaf = next++;
    } else {
      open.push_back(here.no);
      open.push_back(here.yes);
    }
  }
}

data::QuestionTree in_words(const SplitTree& tree, const std::vector<data::FeatureColumn>& columns,
                            std::span<const FeatureTraits> traits) {
  data::QuestionTree words{std::vector<data::QuestionNode>(tree.nodes.size()),
                           std::vector<std::string>(tree.num_leaves())};
  std::vector<Step> path;
  add_words(tree, 0, path, columns, traits, words);
  return words;
}

}  // namespace dfcl::policy
