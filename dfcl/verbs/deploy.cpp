// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/deploy.h"

#include <fmt/format.h>

#include <utility>

#include "dfcl/core/version.h"
#include "dfcl/data/provenance.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/report/launch/deploy_report.h"
#include "dfcl/verbs/outputs.h"
#include "dfcl/verbs/written_files.h"

namespace dfcl::verbs {
namespace {

data::Provenance make_provenance(const data::Study& study, Switch controller, std::uint64_t seed) {
  const data::Study::Deploy& deploy = study.deploy;
  return {"deployment",
          core::version(),
          "deploy",
          {{"methods", fmt::format("{}", fmt::join(deploy.methods, ","))},
           {"units", fmt::format("{}", deploy.units)},
           {"days", fmt::format("{}", deploy.days)},
           {"response", deploy.response},
           {"trial_units", fmt::format("{}", deploy.trial_units)},
           {"trial_days", fmt::format("{}", deploy.trial_days)},
           {"explore", fmt::format("{}", deploy.explore)},
           {"retrain", deploy.retrain ? "true" : "false"},
           {"cost_drift", fmt::format("{}", deploy.cost_drift)},
           {"population_drift", fmt::format("{}", deploy.population_drift)},
           {"controller", std::string(core::to_word(controller))},
           {"seed", fmt::format("{}", seed)}}};
}

}  // namespace

DeployResult deploy(const DeployRequest& request, core::RunContext& context) {
  require_folder("checkpoint", request.checkpoint);
  const data::Study study = read_study_input(request.study, false);
  const WrittenFiles written(request.checkpoint);
  if (request.output) {
    require_ending("output", *request.output, ".json");
    written.require_output("output", *request.output, {request.study.file}, context);
  }
  DeployResult result;
  result.deployment = launch::deploy(study, {.checkpoint_folder = request.checkpoint.value_or("")}, context);
  result.json = report::deploy_json(result.deployment, request.controller == Switch::on, study,
                                    make_provenance(study, request.controller, context.seed));
  if (request.output) written.write(*request.output, [&] { io::write_text_file(*request.output, result.json); });
  return result;
}

}  // namespace dfcl::verbs
