// SPDX-License-Identifier: Apache-2.0
//
// dfcl check: is this trial fit to learn from?
#include "dfcl/verbs/check.h"

#include <fmt/format.h>

#include <memory>

#include "cli/bind.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/error.h"
#include "dfcl/report/check/check_report.h"

namespace dfcl::cli {

void add_check(Session& session) {
  const auto request = std::make_shared<verbs::CheckRequest>();
  CLI::App& verb = session.add_verb(
      "check",
      "is this trial fit to learn from?\n"
      "Arms, sample ratio, balance, missing, duplicated and post-treatment columns. Exit code 0: fit, 7: unfit.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --study study.toml\ndfcl check "
      "study.toml",
      [request, &session](core::RunContext& context) {
        const check::CheckResult result = verbs::check(*request, context);
        if (session.json()) {
          fmt::print("{}", report::check_json(result));
        } else {
          session.show(report::check_text(result, session.length()));
        }
        return result.fit ? 0 : static_cast<int>(core::ErrorKind::unfit);
      });
  verb.add_option("STUDY", request->study.file, "the study file (TOML)")->required();
  add_field(verb, "--split-out", request->split_out, "table to write: each row's id and split");
  session.add_key_flags(verb, request->study.overrides);
}

}  // namespace dfcl::cli
