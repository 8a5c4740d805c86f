// SPDX-License-Identifier: Apache-2.0
//
// A simulated online test as a screen for people and as a results file.
#pragma once

#include <string>

#include "dfcl/data/provenance.h"
#include "dfcl/data/study.h"
#include "dfcl/launch/deploy.h"
#include "dfcl/report/text/screen.h"

namespace dfcl::report {

// with_controller: which of the two campaigns comes first; both are shown.
std::string deploy_text(const launch::DeployResult& result, bool with_controller, Length length = Length::full);
// The results file (docs/results-format.md).
std::string deploy_json(const launch::DeployResult& result, bool with_controller, const data::Study& study,
                        const data::Provenance& provenance);

}  // namespace dfcl::report
