// SPDX-License-Identifier: Apache-2.0
//
// dfcl compare: several methods trained and evaluated on one trial.
#include "dfcl/verbs/compare.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/bind.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/error.h"

namespace dfcl::cli {
namespace {

int run_compare(verbs::CompareRequest& request, const Session& session, core::RunContext& context) {
  if (!session.quiet()) {
    request.on_training = [](const std::string& text) { say(fmt::format("dfcl: training {}\n", text)); };
    request.on_note = [](const std::string& text) { say(fmt::format("dfcl: {}\n", text)); };
  }
  const verbs::CompareResult result = verbs::compare(request, context);
  if (session.json()) {
    fmt::print("{}", result.json);
  } else {
    const std::filesystem::path folder = request.output;
    session.show(report::comparison_text(result.report, result.times, session.length()) +
                 fmt::format("results: {}\nreport: {}\n", (folder / "results.json").string(),
                             (folder / "report.html").string()));
  }
  return result.fit ? 0 : static_cast<int>(core::ErrorKind::unfit);
}

}  // namespace

void add_compare(Session& session) {
  const auto request = std::make_shared<verbs::CompareRequest>();
  CLI::App& verb = session.add_verb(
      "compare",
      "several methods, trained and evaluated on one trial, as one report\n"
      "The first method is the reference. The folder holds models/, results.json, report.html and training.json (how "
      "long\neach took). The same command again resumes where it stopped and repeats nothing. A method that "
      "fails "
      "is reported\nand tried again the next time; exit code 0 as long as the reference and one other are there.",
      "dfcl simulate --preset marketing --rows 5000 --seed 1 -o trial.parquet --study study.toml --truth "
      "truth.parquet\n"
      "dfcl compare study.toml --methods tsm,dfcl-mer --seeds 2 --set method.epochs=3 --resamples 200 --truth "
      "truth.parquet -o compared",
      [request, &session](core::RunContext& context) { return run_compare(*request, session, context); });
  verb.add_option("STUDY", request->study.file, "the study file")->required();
  verb.add_option("-o,--output", request->output, "folder of this comparison")->required();
  verb.add_option("--resamples", request->resamples, "bootstrap resamples over test units; 0: none\nDefault: 1000.");
  add_model(verb, "--truth", request->truth,
            "true expected outcomes of a simulated trial\nAdds the oracle's curve and each plan's share of it.");
  verb.add_option("--segment", request->segments,
                  "column of the trial: who gets what, by its values; may be repeated\nAny column, feature or not.")
      ->allow_extra_args(false);
  add_word<evaluate::Estimator>(verb, "--estimator", request->estimator,
                                "how revenue and cost of a plan are estimated\nDefault: as [evaluate] estimator of "
                                "the study declares. Another one marks the verdict as not pre-declared.");
  add_field(verb, "--test", request->study.test,
            "a separate trial to evaluate on, instead of the study's\nAll rows of the study's own then train or "
            "validate.");
  add_field(verb, "--split-out", request->split_out, "table to write: each row's id and split");
  add_device(verb, request->device, request->precision);
  verb.add_flag("--force", request->force, "continue even if the trial is unfit to learn from");
  session.add_key_flags(verb, request->study.overrides);
}

}  // namespace dfcl::cli
