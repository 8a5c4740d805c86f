// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/launch/deploy_report.h"

#include "dfcl/report/launch/deploy_description.h"
#include "dfcl/report/launch/deploy_parts.h"
#include "dfcl/report/results/results_screen.h"

namespace dfcl::report {

std::string deploy_text(const launch::DeployResult& result, bool with_controller, Length length) {
  const Table weeks = weeks_table(result, with_controller);
  const Table spend = spend_table(result);
  const std::vector<Table> tables =
      length == Length::brief ? std::vector<Table>{spend, weeks} : std::vector<Table>{weeks, spend};
  return results_screen(deploy_verdict(result, with_controller), tables, {}, length);
}

std::string deploy_json(const launch::DeployResult& result, bool with_controller, const data::Study& study,
                        const data::Provenance& provenance) {
  return dump_json(description(Of<DeployReport>{}).write({result, with_controller, study, provenance}));
}

}  // namespace dfcl::report
