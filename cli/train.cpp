// SPDX-License-Identifier: Apache-2.0
//
// dfcl train: from a study to a model.
#include "dfcl/verbs/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>

#include "cli/outputs.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/version.h"
#include "dfcl/io/predictions/prediction_writer.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/tables/file_format.h"
#include "dfcl/model/model_file.h"
#include "dfcl/report/files/model_report.h"
#include "dfcl/train/methods.h"
#include "dfcl/learn/record_json.h"

namespace dfcl::cli {
namespace {

struct TrainFlags {
  std::string study;
  std::string output;
  std::vector<std::string> settings;
  std::vector<std::string> shortcuts;  // "method.epochs=20", from flags of their own
  std::string start_from;
  std::string checkpoint;
  std::string cache;
  std::string out_of_bag;
  std::string log;
  double time_budget = 0.0;  // seconds
  bool force = false;
};

// None of the files that are written may be the study or the trial.
void require_new(const std::string& output, const TrainFlags& flags, const data::Study& study) {
  require_output(output, {flags.study, (std::filesystem::path(study.folder) / study.data.trial.value_or("")).string()});
}

// Only a forest has such predictions, and their file is written last.
void require_out_of_bag(const TrainFlags& flags, const data::Study& study) {
  if (study.method.name != "tsm-forest") {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "is for forests",
                       .where = "--out-of-bag",
                       .found = fmt::format("--method {}", study.method.name),
                       .expected = "--method tsm-forest"});
  }
  (void)io::format_of_name(flags.out_of_bag);
  require_new(flags.out_of_bag, flags, study);
  require_other_file("--out-of-bag", flags.out_of_bag, flags.output);
}

// A flag that was given and changes nothing is a mistake more often than not.
void warn_of_idle_flags(const TrainFlags& flags, const std::vector<std::string>& overrides, const std::string& name,
                        core::RunContext& context) {
  if (name == "auto") return;
  const train::Method& method = train::find_method(name);
  const auto is_one_of = [](const std::string& key, std::initializer_list<const char*> keys) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  for (const std::string& setting : overrides) {
    const std::string key = setting.substr(0, setting.find('='));
    const bool idle = (!method.decides() && is_one_of(key, {"method.alpha", "method.baseline", "method.warm_epochs",
                                                            "method.multipliers"})) ||
                      (!method.has_window() && key == "method.window") ||
                      ((method.has_window() || !method.decides()) && key == "method.temperature") ||
                      (method.uses("forest") ? key == "method.ensemble" : key.starts_with("forest."));
    if (idle) context.warn(fmt::format("{} changes nothing with --method {}", key, name));
  }
  if (flags.time_budget > 0.0) context.warn("--time-budget is for --method auto and changes nothing here");
}

int run_train(const TrainFlags& flags, bool as_json, core::RunContext& context) {
  std::vector<std::string> overrides = flags.settings;
  overrides.insert(overrides.end(), flags.shortcuts.begin(), flags.shortcuts.end());
  const data::Study study = io::read_study(flags.study, overrides);
  warn_of_idle_flags(flags, overrides, study.method.name, context);
  if (flags.time_budget < 0.0)
    throw core::usage_error("--time-budget", "out of range", fmt::format("{}", flags.time_budget), "0 or more seconds");
  require_new(flags.output, flags, study);
  if (!flags.out_of_bag.empty()) require_out_of_bag(flags, study);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> log(nullptr, std::fclose);
  if (!flags.log.empty()) {
    require_new(flags.log, flags, study);
    if (!flags.start_from.empty()) require_output(flags.log, {flags.start_from});
    require_other_file("--log", flags.log, flags.output);
    require_other_file("--log", flags.log, flags.out_of_bag);
    log.reset(std::fopen(flags.log.c_str(), "a"));
    if (log == nullptr)
      throw core::Error({.kind = core::ErrorKind::file, .what = "cannot write the log", .where = flags.log});
  }
  verbs::TrainRequest request{.study = study,
                              .trial = "",
                              .checkpoint_folder = flags.checkpoint,
                              .cache_folder = flags.cache,
                              .time_budget_seconds = flags.time_budget,
                              .force = flags.force,
                              .start = nullptr,
                              .on_epoch = {},
                              .on_out_of_bag = {}};
  if (log != nullptr) {
    request.on_epoch = [&](const learn::EpochRecord& record) {
      if (std::fprintf(log.get(), "%s\n", learn::record_line(record).c_str()) < 0 || std::fflush(log.get()) != 0)
        throw core::Error({.kind = core::ErrorKind::file, .what = "cannot write the log", .where = flags.log});
    };
  }
  if (!flags.out_of_bag.empty()) {
    request.on_out_of_bag = [&](const data::Prediction& prediction) {
      io::PredictionWriter writer(flags.out_of_bag, prediction.arms, prediction.ids.texts() == nullptr,
                                  {"prediction", core::version(), "train", {{"figure", "out of bag"}}});
      writer.write(prediction);
      writer.commit();
    };
  }
  std::optional<model::Model> start;
  if (!flags.start_from.empty()) start = model::read_model(flags.start_from);
  request.start = start ? &*start : nullptr;
  const model::Model model = verbs::train(request, context);
  model::write_model(flags.output, model);
  fmt::print("{}", as_json ? report::model_json(model) : report::model_text(model, flags.output));
  return 0;
}

}  // namespace

void add_train(Session& session) {
  const auto flags = std::make_shared<TrainFlags>();
  std::string summary =
      "learn revenue and cost of every arm so that the decision is good\n"
      "Methods:\n  auto              tries two stages, decision losses and a forest, keeps the best (the default)";
  for (const train::Method& method : train::all_methods())
    summary += fmt::format("\n  {:<17} {}", method.name, method.summary);
  CLI::App& verb = session.add_verb(
      "train", summary,
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --study study.toml\n"
      "dfcl train study.toml --method dfcl-mer --seed 1 -o model.safetensors",
      [flags, &session](core::RunContext& context) { return run_train(*flags, session.json(), context); });
  verb.add_option("STUDY", flags->study, "the study file")->required();
  verb.add_option("-o,--output", flags->output, "the model file to write, .safetensors")->required();
  session.add_key_flag(verb, "--method", "method.name", flags->shortcuts, "the method; --help lists them");
  session.add_key_flag(verb, "--epochs", "method.epochs", flags->shortcuts,
                       "passes over the training units\nDefault: chosen from their number.");
  session.add_key_flag(verb, "--batch", "method.batch", flags->shortcuts,
                       "units in a step\nDefault: chosen from their number.");
  session.add_key_flag(verb, "--lr", "method.learning_rate", flags->shortcuts, "learning rate at the start");
  session.add_key_flag(verb, "--alpha", "method.alpha", flags->shortcuts,
                       "weight of the prediction loss beside a decision loss");
  session.add_key_flag(verb, "--baseline", "method.baseline", flags->shortcuts,
                       "control variate of the decision losses: none, mean or dr");
  session.add_key_flag(verb, "--ensemble", "method.ensemble", flags->shortcuts,
                       "networks trained from different seeds and averaged");
  session.add_key_flag(verb, "--trees", "forest.trees", flags->shortcuts, "tsm-forest: trees\nDefault: 256.");
  session.add_key_flag(verb, "--leaf", "forest.leaf", flags->shortcuts,
                       "tsm-forest: units in a leaf, at least\nDefault: 300.");
  session.add_key_flag(verb, "--depth", "forest.depth", flags->shortcuts,
                       "tsm-forest: splits from the root to a leaf, at most\nDefault: 24.");
  verb.add_option("--out-of-bag", flags->out_of_bag,
                  "tsm-forest: also write predictions of the training units\nBy the trees that did not see the unit.");
  session.add_key_list_flag(verb, "--monotone", "method.monotone", flags->shortcuts,
                            "outcomes that rise with the arm: revenue,cost");
  session.add_key_list_flag(verb, "--concave", "method.concave", flags->shortcuts,
                            "outcomes that rise with the arm by falling steps: revenue");
  verb.add_flag_function(
      "--as-published", [flags](std::int64_t) { flags->shortcuts.emplace_back("method.as_published=true"); },
      "train as the paper did, without what makes it work");
  session.add_key_flag(
      verb, "--warm-epochs", "method.warm_epochs", flags->shortcuts,
      "of the epochs, those on the prediction loss alone\nDefault: two thirds of them, or none with --start-from.");
  verb.add_option("--start-from", flags->start_from,
                  "a model whose weights to start from, instead of random ones\nIts arms, features and network must be "
                  "those of the study.");
  verb.add_option("--set", flags->settings, "any key of the study: section.key=value; may be repeated");
  verb.add_option("--checkpoint", flags->checkpoint,
                  "folder that keeps the state of the run\nThe same command goes on where it was stopped, and ends "
                  "with the same model.");
  verb.add_option("--cache", flags->cache,
                  "folder that keeps the trial as it was read, mapped into memory\nFor trials larger than memory; the "
                  "model is the same.");
  verb.add_option("--log", flags->log, "file to which a JSON line is added for each epoch");
  verb.add_option("--time-budget", flags->time_budget,
                  "auto: stop trying after about this many seconds\nThe model then depends on the machine's speed.");
  verb.add_flag("--force", flags->force, "go on even if the trial is unfit to learn from");
}

}  // namespace dfcl::cli
