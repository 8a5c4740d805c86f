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

int run_train(const verbs::TrainRequest& request, bool as_json, core::RunContext& context) {
  const model::Model model = verbs::train(request, context);
  fmt::print("{}", as_json ? report::model_json(model) : report::model_text(model, *request.output));
  return 0;
}

}  // namespace

void add_train(Session& session) {
  const auto request = std::make_shared<verbs::TrainRequest>();
  std::vector<std::string>& settings = request->study.overrides;
  std::string summary =
      "learn revenue and cost of every arm so that the decision is good\n"
      "Methods:\n  auto              tries two stages, decision losses and a forest, keeps the best (the default)";
  for (const train::Method& method : train::all_methods())
    summary += fmt::format("\n  {:<17} {}", method.name, method.summary);
  CLI::App& verb = session.add_verb(
      "train", summary,
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --study study.toml\n"
      "dfcl train study.toml --method dfcl-mer --seed 1 -o model.safetensors",
      [request, &session](core::RunContext& context) { return run_train(*request, session.json(), context); });
  verb.add_option("STUDY", request->study.file, "the study file")->required();
  add_field(verb, "-o,--output", request->output, "the model file to write, .safetensors")->required();
  session.add_key_flag(verb, "--method", "method.name", settings, "the method; --help lists them");
  session.add_key_flag(verb, "--epochs", "method.epochs", settings,
                       "passes over the training units\nDefault: chosen from their number.");
  session.add_key_flag(verb, "--batch", "method.batch", settings,
                       "units in a step\nDefault: chosen from their number.");
  session.add_key_flag(verb, "--lr", "method.learning_rate", settings, "learning rate at the start");
  session.add_key_flag(verb, "--alpha", "method.alpha", settings,
                       "weight of the prediction loss beside a decision loss");
  session.add_key_flag(verb, "--baseline", "method.baseline", settings,
                       "control variate of the decision losses: none, mean or dr");
  session.add_key_flag(verb, "--ensemble", "method.ensemble", settings,
                       "networks trained from different seeds and averaged");
  session.add_key_flag(verb, "--trees", "forest.trees", settings, "tsm-forest: trees\nDefault: 256.");
  session.add_key_flag(verb, "--leaf", "forest.leaf", settings, "tsm-forest: units in a leaf, at least\nDefault: 300.");
  session.add_key_flag(verb, "--depth", "forest.depth", settings,
                       "tsm-forest: splits from the root to a leaf, at most\nDefault: 24.");
  add_field(verb, "--out-of-bag", request->out_of_bag,
            "tsm-forest: also write predictions of the training units\nBy the trees that did not see the unit.");
  session.add_key_list_flag(verb, "--monotone", "method.monotone", settings,
                            "outcomes that rise with the arm: revenue,cost");
  session.add_key_list_flag(verb, "--concave", "method.concave", settings,
                            "outcomes that rise with the arm by falling steps: revenue");
  verb.add_flag_function(
      "--as-published", [&settings](std::int64_t) { settings.emplace_back("method.as_published=true"); },
      "train as the paper did, without what makes it work");
  session.add_key_flag(
      verb, "--warm-epochs", "method.warm_epochs", settings,
      "of the epochs, those on the prediction loss alone\nDefault: two thirds of them, or none with --start-from.");
  add_field(verb, "--start-from", request->start_from,
            "a model whose weights to start from, instead of random ones\nIts arms, features and network must be "
            "those of the study.");
  add_settings(verb, request->study);
  add_field(verb, "--checkpoint", request->checkpoint,
            "folder that keeps the state of the run\nThe same command goes on where it was stopped, and ends "
            "with the same model.");
  add_field(verb, "--cache", request->cache,
            "folder that keeps the trial as it was read, mapped into memory\nFor trials larger than memory; the "
            "model is the same.");
  add_field(verb, "--log", request->log, "file to which a JSON line is added for each epoch");
  add_field(verb, "--time-budget", request->time_budget,
            "auto: stop trying after about this many seconds\nThe model then depends on the machine's speed.");
  verb.add_flag("--force", request->force, "go on even if the trial is unfit to learn from");
}

}  // namespace dfcl::cli
