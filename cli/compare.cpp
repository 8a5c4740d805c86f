// SPDX-License-Identifier: Apache-2.0
//
// dfcl compare: several methods trained and evaluated on one trial.
#include "dfcl/verbs/compare.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/io/study/study_file.h"

namespace dfcl::cli {
namespace {

struct CompareFlags : verbs::CompareRequest {
  std::string study_file;
  std::string truth_file;
  std::vector<std::string> settings;  // "compare.seeds=5"
};

int run_compare(CompareFlags& flags, bool as_json, bool quiet, core::RunContext& context) {
  flags.study = io::read_study(flags.study_file, flags.settings);
  flags.truth.path = flags.truth_file;
  if (!quiet) flags.on_training = [](const std::string& text) { fmt::print(stderr, "dfcl: training {}\n", text); };
  const verbs::CompareResult result = verbs::compare(flags, context);
  if (as_json) {
    fmt::print("{}", result.json);
  } else {
    const std::filesystem::path folder = flags.folder;
    fmt::print("{}\nresults: {}\nreport: {}\n", report::comparison_text(result.report, result.times),
               (folder / "results.json").string(), (folder / "report.html").string());
  }
  return result.fit ? 0 : static_cast<int>(core::ErrorKind::unfit);
}

}  // namespace

void add_compare(Session& session) {
  const auto flags = std::make_shared<CompareFlags>();
  CLI::App& verb = session.add_verb(
      "compare",
      "several methods, trained and evaluated on one trial, as one report\n"
      "The first method is the reference. The folder holds models/, results.json, report.html and training.json (how "
      "long\neach took). The same command again does nothing twice and goes on where it was stopped. A method that "
      "fails "
      "is reported\nand tried again the next time; exit code 0 as long as the reference and one other are there.",
      "dfcl simulate --preset marketing --rows 10000 --seed 1 -o trial.parquet --study study.toml --truth "
      "truth.parquet\n"
      "dfcl compare study.toml --methods tsm,dfcl-mer --seeds 2 --set method.epochs=3 --resamples 200 --truth "
      "truth.parquet -o compared",
      [flags, &session](core::RunContext& context) {
        return run_compare(*flags, session.json(), session.quiet(), context);
      });
  verb.add_option("STUDY", flags->study_file, "the study file")->required();
  verb.add_option("-o,--output", flags->folder, "folder of the comparison; one each")->required();
  session.add_key_flags(verb, flags->settings);
  verb.add_option("--resamples", flags->resamples,
                  "bootstrap resamples over test units; 0: no such intervals\nDefault: 1000.")
      ->check(CLI::Range(0, 1'000'000));
  verb.add_option("--truth", flags->truth_file,
                  "true expected outcomes of a simulated trial\nAdds the oracle's curve and each plan's share of it.");
  verb.add_option("--segment", flags->segments,
                  "column of the trial: who gets what, by its values; may be repeated\nAny column, feature or not.")
      ->allow_extra_args(false);
  verb.add_flag("--force", flags->force, "go on even if the trial is unfit to learn from");
}

}  // namespace dfcl::cli
