// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/parts_of_trial.h"

#include <nlohmann/json.hpp>

#include "dfcl/core/error_makers.h"

namespace dfcl::verbs {

std::string arms_json(const data::Arms& arms) {
  return nlohmann::json{{"labels", arms.labels}, {"control", arms.labels[arms.control]}}.dump();
}

data::Study study_of_parts(data::Study study, const std::string& arms) {
  try {
    const nlohmann::json parsed = nlohmann::json::parse(arms);
    study.arms.order = parsed.at("labels").get<std::vector<std::string>>();
    study.arms.control = parsed.at("control").get<std::string>();
  } catch (const nlohmann::json::exception& error) {
    throw core::data_error("arms", "not the arms of a trial", error.what(), "");
  }
  study.columns.min_level_units = 0;
  return study;
}

std::string features_json(const std::vector<data::FeatureColumn>& features) {
  nlohmann::json list = nlohmann::json::array();
  for (const data::FeatureColumn& column : features)
    list.push_back({{"name", column.name}, {"categorical", column.categorical}, {"levels", column.levels}});
  return list.dump();
}

std::vector<data::FeatureColumn> parse_features(const std::string& text) {
  std::vector<data::FeatureColumn> features;
  try {
    for (const auto& entry : nlohmann::json::parse(text)) {
      features.push_back({entry.at("name").get<std::string>(), entry.at("categorical").get<bool>(),
                          entry.at("levels").get<std::vector<std::string>>()});
    }
  } catch (const nlohmann::json::exception& error) {
    throw core::data_error("features", "not the features of a trial", error.what(), "");
  }
  return features;
}

}  // namespace dfcl::verbs
