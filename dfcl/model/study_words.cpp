// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/study_words.h"

#include <algorithm>

#include "dfcl/core/error.h"
#include "dfcl/io/study/study_file.h"

namespace dfcl::model {
namespace {

// None for a text that is no study, such as that of a model of another version.
std::optional<data::Study> study_of(const Model& model) {
  try {
    return io::parse_study(model.study, "the model's study", "", {}, false);
  } catch (const core::Error&) {
    return std::nullopt;
  }
}

}  // namespace

data::ReportWords study_words(const Model& model) {
  return data::report_words(study_of(model).value_or(data::Study()));
}

std::optional<RevenueValue> study_value(const Model& model) {
  const data::Study study = study_of(model).value_or(data::Study());
  const std::optional<double> worth = study.value.of_revenue();
  if (!worth) return std::nullopt;
  return RevenueValue{*worth, study.value.margin.has_value()};
}

std::vector<std::string> carried_columns(const Model& model) {
  const data::Study study = study_of(model).value_or(data::Study());
  std::vector<std::string> names = study.columns.carry;
  for (const std::string& name : study.report.segments) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace dfcl::model
