// SPDX-License-Identifier: Apache-2.0
//
// dfcl train: from a study to a model.
#include "dfcl/verbs/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
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
#include "dfcl/train/method_traits.h"
#include "dfcl/train/record_json.h"

namespace dfcl::cli {
namespace {

struct TrainFlags {
  std::string study;
  std::string output;
  std::vector<std::string> settings;  // "method.epochs=20"
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

// A setting that was given and changes nothing is a mistake more often than not.
void warn_of_idle_settings(const TrainFlags& flags, const std::string& method, core::RunContext& context) {
  std::vector<std::string> keys;
  for (const std::string& setting : flags.settings) keys.push_back(setting.substr(0, setting.find('=')));
  for (const std::string& key : train::idle_keys(keys, method))
    context.warn(fmt::format("{} changes nothing with {}", key, core::field_name("method.name", method)));
  if (flags.time_budget > 0.0 && method != "auto")
    context.warn("--time-budget is for --method auto and changes nothing here");
}

int run_train(const TrainFlags& flags, bool as_json, core::RunContext& context) {
  const data::Study study = io::read_study(flags.study, flags.settings);
  warn_of_idle_settings(flags, study.method.name, context);
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
    request.on_epoch = [&](const train::EpochRecord& record) {
      if (std::fprintf(log.get(), "%s\n", train::record_line(record).c_str()) < 0 || std::fflush(log.get()) != 0)
        throw core::Error({.kind = core::ErrorKind::file, .what = "cannot write the log", .where = flags.log});
    };
  }
  if (!flags.out_of_bag.empty()) {
    request.on_out_of_bag = [&](const data::Prediction& prediction) {
      io::PredictionWriter writer(flags.out_of_bag, prediction, prediction.ids.type(),
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
  session.add_key_flags(verb, flags->settings);
  verb.add_option("--out-of-bag", flags->out_of_bag,
                  "tsm-forest: also write predictions of the training units\nBy the trees that did not see the unit.");
  verb.add_option("--start-from", flags->start_from,
                  "a model whose weights to start from, instead of random ones\nIts arms, features and network must be "
                  "those of the study.");
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
