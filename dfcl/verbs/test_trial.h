// SPDX-License-Identifier: Apache-2.0
//
// A separate trial to evaluate on ([data] test, --test): read as the study says, every row a test row, and refused
// where its arms or features are not those of the study's own trial, or where units of it are among the rows that train
// or validate. Memory: the trial, and 8 bytes a row of the study's own. Internal to verbs.
#pragma once

#include <functional>
#include <string>

#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"

namespace dfcl::verbs {

// study: with the split that its own trial was read with. own_path: where that lies. on_note: told where units cannot
// be compared; may be empty. Throws Error of kind data.
data::Trial read_test_trial(const data::Study& study, const std::string& path, const std::string& own_path,
                            const data::Trial& own, const std::function<void(const std::string&)>& on_note,
                            core::RunContext& context);

}  // namespace dfcl::verbs
