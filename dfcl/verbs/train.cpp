// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <utility>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/file_calls.h"
#include "dfcl/core/version.h"
#include "dfcl/data/prediction_facts.h"
#include "dfcl/io/predictions/prediction_writer.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/trial/trial_reader.h"
#include "dfcl/learn/enough.h"
#include "dfcl/learn/record_json.h"
#include "dfcl/model/model_file.h"
#include "dfcl/train/device.h"
#include "dfcl/train/method_traits.h"
#include "dfcl/train/shards.h"
#include "dfcl/train/train.h"
#include "dfcl/verbs/check.h"
#include "dfcl/verbs/memory_limit.h"
#include "dfcl/verbs/memory_needs.h"
#include "dfcl/verbs/outputs.h"
#include "dfcl/verbs/written_files.h"

namespace dfcl::verbs {
namespace {

// A log to which lines are added while the run goes on.
class EpochLog {
 public:
  explicit EpochLog(const std::string& path) : path_(path), file_(io::open_to_append(path)) {
    if (!file_) throw core::file_error(path_, "cannot write the log", errno);
  }
  void add(const learn::EpochRecord& record) {
    core::write_all(file_.number(), learn::record_line(record) + "\n", path_);
  }

 private:
  std::string path_;
  core::Descriptor file_;
};

// A setting that was given and changes nothing is a mistake more often than not.
void warn_of_idle_settings(const TrainRequest& request, const std::string& name, core::RunContext& context) {
  if (name == "auto") return;
  std::vector<std::string> keys;
  for (const auto* settings : {&request.study.settings, &request.study.overrides}) {
    for (const std::string& setting : *settings) keys.push_back(setting.substr(0, setting.find('=')));
  }
  for (const std::string& key : train::idle_keys(keys, name))
    context.warn(fmt::format("{} changes nothing with {}", key, core::field_name("method.name", name)));
}

// Of a single fit nothing can be left out.
void warn_of_idle_budget(const TrainRequest& request, const data::Study::Method& method, core::RunContext& context) {
  if (!request.time_budget || method.name == "auto" || method.ensemble > 1 || method.calibrate.value_or(false)) return;
  context.warn(
      fmt::format("{} changes nothing here: the only fit is always finished", core::field_name("time_budget")));
}

void check_request(const TrainRequest& request) {
  require_text("output", request.output);
  require_text("start_from", request.start_from);
  require_folder("checkpoint", request.checkpoint);
  require_folder("cache", request.cache);
  if (request.out_of_bag) require_table_ending("out_of_bag", *request.out_of_bag);
  require_text("log", request.log);
  if (request.memory) (void)parse_memory(*request.memory);
  if (request.time_budget && !(*request.time_budget >= 0.0 && std::isfinite(*request.time_budget)))
    throw core::field_error("time_budget", "out of range", fmt::format("{}", *request.time_budget),
                            "0 or more seconds");
}

// None of the files that are written may be an input or another of them.
void check_outputs(const TrainRequest& request, const data::Study& study, core::RunContext& context) {
  const std::string trial = trial_path(with_trial(study, request.study));
  const std::string start = request.start_from.value_or("");
  const std::string output = request.output.value_or("");
  // The same command with the same checkpoint goes on with its own run, and may end with the same files.
  const WrittenFiles written(request.checkpoint);
  const auto require_new = [&](const char* field, const std::string& file) {
    written.require_output(field, file, {request.study.file, trial, start}, context);
  };
  if (request.output) require_new("output", output);
  if (request.out_of_bag) {
    const std::string& name = study.method.name;
    if (name != "auto" && !study.method.calibrate.value_or(false) && !train::find_method(name).uses("out-of-sample"))
      throw core::field_error("out_of_bag", "is for methods that predict their own training units out of sample",
                              core::field_name("method.name", name),
                              core::field_name("method.name", "auto") + ", " + train::methods_with("out-of-sample"));
    require_new("out_of_bag", *request.out_of_bag);
    require_other_file("out_of_bag", *request.out_of_bag, output);
  }
  if (request.log) {
    require_place("log", *request.log, {request.study.file, trial, start});  // lines are added to it
    require_other_file("log", *request.log, output);
    require_other_file("log", *request.log, request.out_of_bag.value_or(""));
  }
}

void write_out_of_bag(const std::string& path, const data::Prediction& prediction) {
  io::PredictionWriter writer(path, prediction, prediction.ids.type(),
                              {"prediction",
                               core::version(),
                               "train",
                               {{"figure", "out of bag"}, {data::kTrainedOption, data::kTrainedOnNothing}}});
  writer.write(prediction);
  writer.commit();
}

}  // namespace

model::Model train(const TrainRequest& request, core::RunContext& context) {
  check_request(request);
  context.device = train::choose_device(request.device, request.precision, context);
  const data::Study study = read_study_input(request.study);
  if (study.method.name != "auto") (void)train::find_method(study.method.name);
  warn_of_idle_settings(request, study.method.name, context);
  warn_of_idle_budget(request, study.method, context);
  check_outputs(request, study, context);
  const WrittenFiles written(request.checkpoint);
  train::TrainOptions options;
  std::optional<model::Model> start;
  if (request.start_from) start = model::read_model(*request.start_from);
  options.start = start ? &*start : request.start_model.get();
  std::optional<EpochLog> log;
  if (request.log) log.emplace(*request.log);
  const bool may_end = request.is_enough && study.method.name != "auto";
  if (log || may_end) {
    options.on_epoch = [&](const learn::EpochRecord& record) {
      if (log) log->add(record);
      if (may_end && request.is_enough()) throw learn::Enough();
    };
  }
  if (request.out_of_bag)
    options.on_out_of_bag = [&](const data::Prediction& made) {
      written.write(*request.out_of_bag, [&] { write_out_of_bag(*request.out_of_bag, made); });
    };
  const std::string cache = request.cache.value_or("");
  data::Study of_trial = with_trial(study, request.study);
  context.scratch_folder = cache;
  if (request.memory && keep_within(*request.memory, train_needs(of_trial, request.cache.has_value()), context))
    context.scratch_folder = scratch_beside(request.output);
  if (!request.features.empty()) of_trial.columns.min_level_units = 1;  // the features say which levels are pooled
  data::Trial whole = io::read_trial(of_trial, context, cache);
  if (!request.features.empty()) train::recode_levels(request.features, whole);
  const CheckedTrial read = check_and_adjust(std::move(whole), study, context);
  require_fit(read.checked, request.force, context);
  const data::Trial& trial = *read.trial;
  options.study_text = io::study_text(study);
  options.checkpoint_folder = request.checkpoint.value_or("");
  options.time_budget_seconds = request.time_budget.value_or(0.0);
  model::Model model = train::train(trial, study, options, context);
  if (request.output) written.write(*request.output, [&] { model::write_model(*request.output, model); });
  return model;
}

}  // namespace dfcl::verbs
