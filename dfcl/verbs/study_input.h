// SPDX-License-Identifier: Apache-2.0
//
// The study of a request: a file with settings over it, or a study in memory; and its trial, which may lie elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dfcl/data/study.h"

namespace dfcl::verbs {

struct StudyInput {
  std::string file;                    // path
  std::vector<std::string> settings;   // "section.key=value"
  std::vector<std::string> overrides;  // the same, from arguments of their own: they win
  std::optional<data::Study> study;    // instead of the file
  std::optional<std::string> trial;    // path, instead of the study's own
  std::optional<std::string> test;     // path of a separate trial to evaluate on, instead of the study's own
};

// The study with its settings. Throws Error of kind usage that names the field "study" where there is none, "trial"
// where no trial is known, or the key that is wrong.
data::Study read_study_input(const StudyInput& input, bool needs_trial = true);

// The study with the path of the trial that is meant, for reading it. What is kept of a study has its own path.
data::Study with_trial(data::Study study, const StudyInput& input);

// Where the trial of a study lies.
std::string trial_path(const data::Study& study);
// Where the separate test trial lies; "": there is none.
std::string test_path(const data::Study& study, const StudyInput& input);

}  // namespace dfcl::verbs
