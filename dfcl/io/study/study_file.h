// SPDX-License-Identifier: Apache-2.0
//
// Study files: one TOML file that says what a trial's columns mean. The table of keys (data/study_keys.h) knows them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "dfcl/data/study.h"

namespace dfcl::io {

// Reads and checks a study. overrides are "section.key=value" with TOML values (bare words count as text; no value
// leaves an optional key open). A file without `format` is one of version 0.1.
// Without needs_trial the trial may be left out, for data that the caller has elsewhere.
// Throws Error of kind file, or usage with the line of the file.
data::Study read_study(const std::string& path, const std::vector<std::string>& overrides = {},
                       bool needs_trial = true);

// The same from text. where: what messages call it; folder: what its paths are relative to.
data::Study parse_study(const std::string& text, const std::string& where, const std::string& folder,
                        const std::vector<std::string>& overrides, bool needs_trial);

// A study with other settings, checked as a whole. settings as the overrides above; where: what messages call them.
data::Study with_settings(data::Study study, const std::vector<std::string>& settings, const std::string& where);

// A study as the text of a study file: the keys that are set, and those that have a remark ("section.key" -> what to
// say beside it, or above it in several lines), commented out where they are not set. Remarks hold no control
// characters but line ends.
std::string study_text(const data::Study& study, const std::map<std::string, std::string>& remarks = {});

}  // namespace dfcl::io
