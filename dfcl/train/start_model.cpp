// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/start_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/error_makers.h"

namespace dfcl::train {
namespace {

const char* kind_text(const data::FeatureColumn& column) { return column.categorical ? "categories" : "numbers"; }

}  // namespace

void require_same_schema(const data::Trial& trial, const model::Model& start) {
  if (start.predictors.size() != 1 || !start.predictors.front().predictor->origin())
    throw core::field_error("start_from", "training cannot start from a model of this method", start.method,
                            "a model of networks");
  if (trial.arms.labels != start.arms.labels || trial.arms.control != start.arms.control) {
    const auto text = [](const data::Arms& arms) {
      return fmt::format("{} with control {}", fmt::join(arms.labels, ", "), arms.labels[arms.control]);
    };
    throw core::field_error("start_from", "the starting model knows other arms", text(start.arms), text(trial.arms));
  }
  const auto& columns = trial.features.columns;
  for (std::size_t i = 0; i < std::max(columns.size(), start.features.size()); ++i) {
    if (i >= columns.size() || i >= start.features.size() || columns[i].name != start.features[i].name) {
      throw core::field_error(
          "start_from", fmt::format("the starting model has other features, from the {}. on", i + 1),
          i < start.features.size() ? fmt::format("'{}'", start.features[i].name) : "no more features",
          i < columns.size() ? fmt::format("'{}'", columns[i].name) : "no more features",
          "[columns] features and exclude say which columns are used");
    }
    if (columns[i].categorical != start.features[i].categorical) {
      throw core::field_error("start_from", fmt::format("the starting model reads '{}' differently", columns[i].name),
                              kind_text(start.features[i]), kind_text(columns[i]), "[columns] categorical decides");
    }
  }
}

}  // namespace dfcl::train
