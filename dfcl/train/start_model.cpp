// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/start_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/error.h"

namespace dfcl::train {
namespace {

core::Error other_model(std::string what, std::string found, std::string expected, std::string hint = "") {
  return core::Error({.kind = core::ErrorKind::usage,
                      .what = std::move(what),
                      .where = "--start-from",
                      .found = std::move(found),
                      .expected = std::move(expected),
                      .hint = std::move(hint)});
}

const char* kind_text(const data::FeatureColumn& column) { return column.categorical ? "categories" : "numbers"; }

std::string layers_text(const nn::OutcomeNetworkOptions& network) {
  std::string text = network.heads ? "shared " : "hidden ";
  text += fmt::format("[{}]", fmt::join(network.shared, ", "));
  if (network.heads) text += fmt::format(", heads [{}]", fmt::join(*network.heads, ", "));
  return text;
}

std::string outcome_text(const nn::OutcomeOptions& outcome) {
  const char* kinds[] = {"real", "non_negative", "binary"};
  const char* shapes[] = {"", ", monotone", ", concave"};
  return fmt::format("{}{}{}{}, {} outputs", kinds[static_cast<std::size_t>(outcome.kind)],
                     shapes[static_cast<std::size_t>(outcome.arm_shape)],
                     outcome.control_is_free ? ", free control" : "", outcome.non_negative ? ", never negative" : "",
                     outcome.num_arms);
}

}  // namespace

void require_same_schema(const data::Trial& trial, const model::Model& start) {
  if (start.forest || start.members.empty())
    throw other_model("the starting model is no network", start.method, "a network");
  if (trial.arms.labels != start.arms.labels || trial.arms.control != start.arms.control) {
    const auto text = [](const data::Arms& arms) {
      return fmt::format("{} with control {}", fmt::join(arms.labels, ", "), arms.labels[arms.control]);
    };
    throw other_model("the starting model knows other arms", text(start.arms), text(trial.arms));
  }
  const auto& columns = trial.features.columns;
  for (std::size_t i = 0; i < std::max(columns.size(), start.features.size()); ++i) {
    if (i >= columns.size() || i >= start.features.size() || columns[i].name != start.features[i].name) {
      throw other_model(fmt::format("the starting model has other features, from the {}. on", i + 1),
                        i < start.features.size() ? fmt::format("'{}'", start.features[i].name) : "no more features",
                        i < columns.size() ? fmt::format("'{}'", columns[i].name) : "no more features",
                        "[columns] features and exclude say which columns are used");
    }
    if (columns[i].categorical != start.features[i].categorical) {
      throw other_model(fmt::format("the starting model reads '{}' differently", columns[i].name),
                        kind_text(start.features[i]), kind_text(columns[i]), "[columns] categorical decides");
    }
  }
}

model::Preprocessing recoded_preprocessing(const model::Model& start, const std::vector<data::FeatureColumn>& columns) {
  std::vector<model::CategoryInput> categories = start.preprocessing.categories();
  for (model::CategoryInput& category : categories) {
    const std::vector<std::string>& known = start.features[category.feature].levels;
    const std::vector<std::string>& levels = columns[category.feature].levels;
    std::vector<std::int32_t> position;
    for (const std::string& level : levels) {
      const auto found = std::find(known.begin(), known.end(), level);
      // A level that the model pooled, or never met, is one of its pool.
      const std::size_t code = found == known.end() ? 0 : static_cast<std::size_t>(found - known.begin());
      position.push_back(category.position[code]);
    }
    position.push_back(category.position.back());  // missing
    category.position = std::move(position);
  }
  return model::Preprocessing(start.preprocessing.num_features(), start.preprocessing.numbers(),
                              start.preprocessing.indicators(), std::move(categories));
}

void require_same_network(const nn::OutcomeNetworkOptions& wanted, const model::Model& start) {
  const nn::OutcomeNetworkOptions& found = start.network;
  if (wanted.shared != found.shared || wanted.heads != found.heads) {
    throw other_model("the starting model has another network", layers_text(found), layers_text(wanted),
                      "[network] may be left out: the model's is taken then");
  }
  for (const auto& [name, theirs, ours] :
       {std::tuple{"revenue", found.revenue, wanted.revenue}, std::tuple{"cost", found.cost, wanted.cost}}) {
    if (theirs == ours) continue;
    throw other_model(fmt::format("the starting model predicts {} in another form", name), outcome_text(theirs),
                      outcome_text(ours),
                      "[cost], --as-published, --monotone, --concave and the kind of the method must be the same");
  }
}

}  // namespace dfcl::train
