// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/train.h"

#include <fmt/format.h>

#include <chrono>
#include <mutex>
#include <optional>

#include "dfcl/core/error.h"
#include "dfcl/core/side_by_side.h"
#include "dfcl/learn/record_json.h"
#include "dfcl/model/model_file.h"
#include "dfcl/train/checkpoint.h"
#include "dfcl/train/cross_fit.h"
#include "dfcl/train/device.h"
#include "dfcl/train/finish.h"
#include "dfcl/train/fold_fits.h"
#include "dfcl/train/run_key.h"
#include "dfcl/train/stack.h"
#include "dfcl/train/stages.h"

namespace dfcl::train {
namespace {

constexpr std::size_t kFirstNuisance = 10'000;  // random numbers follow it, whatever the number of networks

class Run {
 public:
  Run(const data::Trial& trial, const data::Study& study, const TrainOptions& options, core::RunContext& context)
      : trial_(trial),
        study_(study),
        options_(options),
        context_(context),
        method_(find_method(study.method.name)),
        prepared_(prepare(trial, study, method_, context, options.start)),
        settings_(with_device(settings_of(study, method_, prepared_.train_rows.size(), context.seed,
                                          options.start == nullptr ? "" : model::fingerprint_of(*options.start)),
                              context)),
        checkpoint_(options.checkpoint_folder, run_key(trial, study, settings_)) {
    if (options.start != nullptr && !method_.uses("start")) {
      throw core::Error(
          {.kind = core::ErrorKind::usage,
           .field = "start_from",
           .what = fmt::format("{} cannot start from a model", method_.name),
           .hint = fmt::format("name a method of networks, for example {}", core::field_name("method.name", "tsm"))});
    }
  }

  model::Model run() {
    const bool calibrated = is_calibrated(study_, method_, options_.start != nullptr);
    const auto learner = make_learner(method_.learner, prepared_, trial_, study_, settings_, context_, options_.start);
    std::vector<learn::Fit> fits;
    if (method_.base != nullptr) {
      fits.push_back(fit_on_base(*learner));
    } else {
      fits = fit_members(*learner);
    }
    return finished(std::move(fits), learner->shown(), calibrated);
  }

 private:
  learn::Fit fit_on_base(const learn::Learner& learner) {
    total_rows_ = settings_.epochs * prepared_.train_rows.size();  // two fits, half of the units each
    const auto base = make_learner(method_.base, prepared_, trial_, study_, settings_, context_);
    const FillStage fill = [this](learn::Stage& stage, const std::string& name) { fill_stage(stage, name); };
    return train::fit_on_base(base.get(), learner, prepared_.training_set(trial_), prepared_, settings_, fill,
                              context_);
  }

  std::vector<learn::Fit> fit_members(const learn::Learner& learner) {
    const bool doubly_robust = settings_.needs_nuisance();
    // The two fits of the doubly robust form have half of the units each.
    total_rows_ = prepared_.train_rows.size() *
                  (settings_.epochs * settings_.ensemble + (doubly_robust ? settings_.nuisance_epochs : 0));
    const FillStage fill = [this](learn::Stage& stage, const std::string& name) { fill_stage(stage, name); };
    learn::TrainingSet set = prepared_.training_set(trial_);
    Nuisance nuisance;
    if (doubly_robust) {
      const auto own = make_one_bag_learner(method_.nuisance == nullptr ? method_.learner : method_.nuisance, prepared_,
                                            trial_, study_, settings_, context_);
      nuisance = fit_nuisance(*own, set, prediction_objective(prepared_, method_), settings_.nuisance_epochs,
                              kFirstNuisance, fill, context_);
      set.nuisance_revenue = std::as_const(nuisance).revenue.view();
      set.nuisance_cost = std::as_const(nuisance).cost.view();
    }
    const learn::Predictor* start = options_.start == nullptr ? nullptr : options_.start->predictors[0].predictor.get();
    warn_of_members(start);
    // Where nothing is asked after an epoch or a network.
    const bool may_at_once = options_.time_budget_seconds <= 0.0 && !options_.on_epoch;
    if (may_at_once && core::at_a_time(context_, settings_.ensemble) > 1)
      return fit_members_at_once(learner, set, start);
    std::vector<learn::Fit> fits;
    for (std::size_t member = 0; member < settings_.ensemble; ++member) {
      if (member > 0 && is_time_up()) {
        context_.warn(fmt::format("the time is up after {} of {} networks", member, settings_.ensemble));
        settings_.ensemble = member;  // with which the run can be repeated
        break;
      }
      fits.push_back(fit_stages(learner, set, prepared_, settings_, member, start, fmt::format("member-{}", member),
                                fill, context_));
    }
    return fits;
  }

  // To the same bytes: on a graphics card (core/side_by_side.h).
  std::vector<learn::Fit> fit_members_at_once(const learn::Learner& learner, const learn::TrainingSet& set,
                                              const learn::Predictor* start) {
    std::vector<learn::Fit> fits(settings_.ensemble);
    std::mutex telling;
    core::run_side_by_side(context_, fits.size(), [&](std::size_t member, core::RunContext& own) {
      const FillStage fill = [&](learn::Stage& stage, const std::string& name) {
        fill_stage(stage, name);
        stage.on_epoch = {};  // a figure of which network?
        stage.advanced = [&, advanced = stage.advanced](std::size_t num_rows) {
          const std::lock_guard lock(telling);
          advanced(num_rows);
        };
      };
      fits[member] =
          fit_stages(learner, set, prepared_, settings_, member, start, fmt::format("member-{}", member), fill, own);
    });
    return fits;
  }

  void warn_of_members(const learn::Predictor* start) const {
    const std::size_t known = start == nullptr ? 0 : start->origin()->num_members;
    if (known <= settings_.ensemble) return;
    context_.warn(fmt::format("the starting model is the mean of {} networks, of which {} {}; {} takes all", known,
                              settings_.ensemble, settings_.ensemble == 1 ? "goes on" : "go on",
                              core::field_name("method.ensemble", fmt::format("{}", known))));
  }

  // Checkpoint, log and progress of a fit.
  void fill_stage(learn::Stage& stage, const std::string& name) {
    stage.name = checkpoint_.path_of(name);
    stage.load = [this, name] { return checkpoint_.load(name); };
    stage.save = [this, name](io::TensorFile state) { checkpoint_.save(name, std::move(state)); };
    stage.on_epoch = [this](const learn::EpochRecord& record) {
      if (options_.on_epoch) options_.on_epoch(record);
      context_.detail(
          record.decides ? fmt::format("loss {:.4g}, of decisions {:.4g}", record.prediction_loss, record.decision_loss)
                         : fmt::format("loss {:.4g}", record.prediction_loss));
    };
    stage.advanced = [this](std::size_t num_rows) {
      rows_done_ += num_rows;
      context_.progress("training", rows_done_, total_rows_);
      if (rows_done_ >= total_rows_) context_.finished("training");
    };
  }

  model::Model finished(std::vector<learn::Fit> fits, std::vector<std::pair<std::string, std::string>> shown,
                        bool calibrated) {
    const Finishing finishing{trial_, study_, prepared_, options_.on_out_of_bag,
                              options_.start == nullptr ? nullptr : &options_.start->trained};
    model::Model result =
        model_frame(finishing, method_.name, settings_.seed, options_.study_text, options_.start, context_);
    result.options = settings_.shown();
    for (auto& option : shown) result.options.push_back(std::move(option));
    std::vector<learn::EpochRecord> record;
    std::vector<std::unique_ptr<learn::Predictor>> predictors;
    for (learn::Fit& fit : fits) {
      record.insert(record.end(), fit.record.begin(), fit.record.end());
      predictors.push_back(std::move(fit.predictor));
    }
    result.record = learn::record_list(record);
    result.predictors = learn::joined(std::move(predictors));
    const HeldUnits units = held_units(trial_, prepared_, context_);
    const bool enough = units.are_enough();
    if (calibrated && !enough) context_.warn("too few units, or clusters of them, to calibrate by");
    if (fits.size() == 1 && fits.front().out_of_sample) {
      learn::Predicted unseen =
          unseen_of_whole(trial_, units, result.predictors, *fits.front().out_of_sample, context_);
      finish_with_unseen(finishing, units, std::move(unseen), calibrated && enough, result, context_);
    } else if (auto unseen = calibrated && enough ? fold_predictions(units) : std::nullopt) {
      finish_with_unseen(finishing, units, *std::move(unseen), true, result, context_);
    } else {
      finish_without_unseen(finishing, is_calibrated_by_validation(study_, method_, options_.start != nullptr), result,
                            context_);
      if (calibrated) result.options.emplace_back("calibrate", "false");  // as it came out
    }
    return result;
  }

  bool is_time_up() const {
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    return options_.time_budget_seconds > 0.0 && spent > options_.time_budget_seconds;
  }

  // Three further fits, whose only purpose these are. Nothing where their time is over.
  std::optional<learn::Predicted> fold_predictions(const HeldUnits& units) {
    FoldFits folds(trial_, study_, prepared_, units, checkpoint_, context_);
    std::size_t done = 0;
    const FoldFits::Hooks hooks{.on_epoch = {},
                                .on_fit = [&] { context_.progress("calibrating", ++done, kFolds, "fits"); },
                                .is_time_up = [this] { return is_time_up(); }};
    try {
      FoldedMethod folded = folds.fit(method_, hooks);
      context_.finished("calibrating");
      return std::move(folded.unseen);
    } catch (const TimeIsUp&) {
      context_.finished("calibrating");
      context_.warn("the time is up: the model is not calibrated");
      return std::nullopt;
    }
  }

  const data::Trial& trial_;
  const data::Study& study_;
  const TrainOptions& options_;
  core::RunContext& context_;
  const Method& method_;
  Preparation prepared_;
  Settings settings_;
  Checkpoint checkpoint_;
  std::size_t rows_done_ = 0;
  std::size_t total_rows_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// `auto`: a stack, or two-stage learning where there are too few units to weigh one by.
model::Model train_stack(const data::Trial& trial, const data::Study& study, const TrainOptions& options,
                         core::RunContext& context) {
  const Preparation prepared = prepare(trial, study, two_stage_method(), context);
  const HeldUnits units = held_units(trial, prepared, context);
  if (!units.are_enough()) {
    (void)stack_members(study);
    data::Study alone = study;
    alone.method.name = two_stage_method().name;
    model::Model result = Run(trial, alone, options, context).run();
    result.options.emplace_back("stack",
                                fmt::format("{} alone: {} {} are too few to weigh methods by", two_stage_method().name,
                                            units.num_groups, trial.has_clusters() ? "clusters of units" : "units"));
    return result;
  }
  const HeldOutcomes outcomes = held_outcomes(trial, prepared, units.rows, context);
  StackResult stack = fit_stack({.trial = trial,
                                 .study = study,
                                 .prepared = prepared,
                                 .units = units,
                                 .outcomes = outcomes,
                                 .seconds_limit = options.time_budget_seconds,
                                 .checkpoint_folder = options.checkpoint_folder,
                                 .on_epoch = options.on_epoch},
                                context);
  const Finishing finishing{trial, study, prepared, options.on_out_of_bag};
  model::Model result = model_frame(finishing, "auto", context.seed, options.study_text, nullptr, context);
  core::Column<std::uint8_t> seen(context.scratch());  // trees learn from validation units too
  for (const data::Split split : trial.split) seen.push_back(split == data::Split::test ? 0 : 1);
  result.trained = model::trained_units(trial, study.split, seen);
  // With these members the same trial gives the same model again, whatever time left out.
  std::vector<std::string> names;
  for (const Method* method : stack.members) names.emplace_back(method->name);
  result.options = {{"members", fmt::format("{}", fmt::join(names, ", "))},
                    {"ensemble", fmt::format("{}", study.method.ensemble)},
                    {"as_published", study.method.as_published ? "true" : "false"}};
  result.predictors = std::move(stack.predictors);
  result.mean_effect = std::move(stack.mean_effect);
  result.stack = std::move(stack.facts);
  result.record = learn::record_list(stack.record);
  finish_with_unseen(finishing, units, std::move(stack.unseen), is_stack_calibrated(study), result, context);
  return result;
}

}  // namespace

model::Model train(const data::Trial& trial, const data::Study& study, const TrainOptions& options,
                   core::RunContext& context) {
  if (study.method.name != "auto") return Run(trial, study, options, context).run();
  if (options.start != nullptr) {
    throw core::Error(
        {.kind = core::ErrorKind::usage,
         .field = "start_from",
         .what = "`auto` fits its members from scratch and cannot start from a model",
         .hint = fmt::format("name a method, for example {}", core::field_name("method.name", "dfcl-mer"))});
  }
  return train_stack(trial, study, options, context);
}

}  // namespace dfcl::train
