// SPDX-License-Identifier: Apache-2.0
//
// dfcl train: from a study to a model.
#include "dfcl/verbs/train.h"

#include <fmt/format.h>

#include <memory>

#include "cli/bind.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/report/files/model_report.h"
#include "dfcl/train/methods.h"

namespace dfcl::cli {
namespace {

int run_train(const verbs::TrainRequest& request, const Session& session, core::RunContext& context) {
  const model::Model model = verbs::train(request, context);
  if (session.json()) {
    fmt::print("{}", report::model_json(model));
  } else {
    session.show(report::model_text(model, *request.output, session.length()));
  }
  return 0;
}

}  // namespace

void add_train(Session& session) {
  const auto request = std::make_shared<verbs::TrainRequest>();
  std::string summary =
      "learns revenue and cost under every arm, so that the decision is good\n"
      "Methods:\n  auto              a weighted stack of trees, networks and decision losses (the default)";
  for (const train::Method& method : train::all_methods())
    summary += fmt::format("\n  {:<17} {}", method.name, method.summary);
  CLI::App& verb = session.add_verb(
      "train", summary,
      "dfcl simulate --preset marketing --rows 5000 --seed 1 -o trial.parquet --study study.toml\n"
      "dfcl train study.toml --method dfcl-mer --seed 1 -o model.safetensors",
      [request, &session](core::RunContext& context) { return run_train(*request, session, context); });
  verb.add_option("STUDY", request->study.file, "the study file")->required();
  add_field(verb, "-o,--output", request->output, "the model file to write, .safetensors")->required();
  session.add_key_flags(verb, request->study.overrides);
  add_field(
      verb, "--out-of-bag", request->out_of_bag,
      "auto, tsm-forest: file for out-of-fold predictions of the training units\nBy the fits or trees that did not "
      "see the unit.");
  add_field(verb, "--start-from", request->start_from,
            "a model whose weights to start from, instead of random ones\nIts arms, features and network must be "
            "those of the study.");
  add_field(verb, "--checkpoint", request->checkpoint,
            "folder that keeps the state of the run\nThe same command resumes where it stopped, with the same model.");
  add_field(verb, "--cache", request->cache,
            "folder that keeps the trial as it was read, mapped into memory\nFor trials larger than memory; the "
            "model is the same.");
  add_memory(verb, request->memory, "keeps the trial in files while it runs, uses fewer threads");
  add_field(verb, "--log", request->log, "file to which a JSON line is added for each epoch");
  add_field(verb, "--time-budget", request->time_budget,
            "leave out what is not fitted within about this many seconds\nOf the members of auto, of --ensemble and of "
            "calibration. The model records what was left out, so that the run can be repeated.");
  add_device(verb, request->device, request->precision);
  verb.add_flag("--force", request->force, "continue even if the trial is unfit to learn from");
}

}  // namespace dfcl::cli
