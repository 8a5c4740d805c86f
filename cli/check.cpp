// SPDX-License-Identifier: Apache-2.0
//
// dfcl check: is this trial fit to learn from?
#include "dfcl/check/check.h"

#include <fmt/format.h>

#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/error.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/trial/trial_reader.h"
#include "dfcl/report/check/check_report.h"

namespace dfcl::cli {
namespace {

struct CheckFlags {
  std::string study;
  std::vector<std::string> overrides;
};

int run_check(const CheckFlags& flags, bool as_json, core::RunContext& context) {
  const data::Study study = io::read_study(flags.study, flags.overrides);
  const data::Trial trial = io::read_trial(study, context);
  const check::CheckResult result = check::check_trial(trial, study, context);
  fmt::print("{}", as_json ? report::check_json(result) : report::check_text(result));
  return result.fit ? 0 : static_cast<int>(core::ErrorKind::unfit);
}

}  // namespace

void add_check(Session& session) {
  const auto flags = std::make_shared<CheckFlags>();
  CLI::App& verb = session.add_verb(
      "check",
      "is this trial fit to learn from?\n"
      "Arms, sample ratio, balance, missing, duplicated and post-treatment columns. Exit code 0: fit, 7: unfit.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --study study.toml\ndfcl check "
      "study.toml",
      [flags, &session](core::RunContext& context) { return run_check(*flags, session.json(), context); });
  verb.add_option("STUDY", flags->study, "the study file (TOML)")->required();
  session.add_key_flags(verb, flags->overrides);
}

}  // namespace dfcl::cli
