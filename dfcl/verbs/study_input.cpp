// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/study_input.h"

#include <filesystem>

#include "dfcl/core/error_makers.h"
#include "dfcl/data/splits.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/verbs/outputs.h"

namespace dfcl::verbs {

data::Study read_study_input(const StudyInput& input, bool needs_trial) {
  std::vector<std::string> settings = input.settings;
  settings.insert(settings.end(), input.overrides.begin(), input.overrides.end());
  require_text("trial", input.trial);
  data::Study study;
  if (input.study) {
    study = settings.empty() ? *input.study : io::with_settings(*input.study, settings, "");
  } else {
    require_text("study", input.file);
    study = io::read_study(input.file, settings, needs_trial && !input.trial);
  }
  require_text("test", input.test);
  if (input.test) {
    study.data.test = *input.test;
    study.split = data::without_test(study.split);
  }
  if (needs_trial && !study.data.trial && !input.trial)
    throw core::field_error("trial", "no trial", "", "a table, or the path of one");
  return study;
}

data::Study with_trial(data::Study study, const StudyInput& input) {
  if (!input.trial) return study;
  study.folder.clear();
  study.data.trial = *input.trial;
  return study;
}

std::string trial_path(const data::Study& study) {
  return (std::filesystem::path(study.folder) / study.data.trial.value_or("")).string();
}

std::string test_path(const data::Study& study, const StudyInput& input) {
  if (input.test) return *input.test;
  return study.data.test ? (std::filesystem::path(study.folder) / *study.data.test).string() : "";
}

}  // namespace dfcl::verbs
