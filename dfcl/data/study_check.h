// SPDX-License-Identifier: Apache-2.0
//
// What the keys of a study must say together. Each value alone has been checked when it was set (study_keys.h).
#pragma once

#include <string>

#include "dfcl/data/study.h"

namespace dfcl::data {

// Throws Error of kind usage that names the keys. where: what messages call the study. Without needs_trial the trial
// may be left out, for data that the caller has in memory.
void check_study(const Study& study, const std::string& where, bool needs_trial);

}  // namespace dfcl::data
