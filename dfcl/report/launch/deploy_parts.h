// SPDX-License-Identifier: Apache-2.0
//
// The answer, tables, figures and sentences of a simulated online test: what its screen, its results file and its page
// share. Internal to report.
#pragma once

#include <string>
#include <vector>

#include "dfcl/data/study.h"
#include "dfcl/launch/deploy.h"
#include "dfcl/report/results/free_parts.h"
#include "dfcl/report/results/results_head.h"

namespace dfcl::report {

const launch::Campaign& campaign_of(const launch::DeployResult& result, bool with_controller);

Verdict deploy_verdict(const launch::DeployResult& result, bool with_controller);
Table weeks_table(const launch::DeployResult& result, bool with_controller);
Table gains_table(const launch::DeployResult& result, bool with_controller);
Table spend_table(const launch::DeployResult& result);
std::vector<Figure> deploy_figures(const launch::DeployResult& result, bool with_controller);
std::vector<std::string> deploy_sentences(const launch::DeployResult& result, const data::Study& study);

}  // namespace dfcl::report
