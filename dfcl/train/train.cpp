// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/train.h"

#include <fmt/format.h>

#include <optional>

#include "dfcl/core/error.h"
#include "dfcl/core/version.h"
#include "dfcl/learn/record_json.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/train/checkpoint.h"
#include "dfcl/train/choose.h"
#include "dfcl/train/cross_fit.h"
#include "dfcl/train/run_key.h"
#include "dfcl/train/stages.h"

namespace dfcl::train {
namespace {

class Run {
 public:
  Run(const data::Trial& trial, const data::Study& study, const TrainOptions& options, core::RunContext& context)
      : trial_(trial),
        study_(study),
        options_(options),
        context_(context),
        method_(find_method(study.method.name)),
        prepared_(prepare(trial, study, method_, context, options.start)),
        settings_(settings_of(study, method_, prepared_.train_rows.size(), context.seed,
                              options.start == nullptr ? "" : model::fingerprint_of(*options.start))),
        checkpoint_(options.checkpoint_folder, run_key(trial, study, settings_)) {
    if (options.start != nullptr && !method_.uses("start")) {
      throw core::Error(
          {.kind = core::ErrorKind::usage,
           .field = "start_from",
           .what = fmt::format("{} cannot start from a model", method_.name),
           .hint = fmt::format("name a method of networks, for example {}", core::field_name("method.name", "tsm"))});
    }
  }

  // fitted: by the choosing of `auto` on this trial and study, where it has done so.
  model::Model run(std::optional<learn::Fit> fitted = {}) {
    const auto learner = make_learner(method_.learner, prepared_, trial_, study_, settings_, context_, options_.start);
    if (fitted && options_.on_epoch) {
      for (const learn::EpochRecord& epoch : fitted->record) options_.on_epoch(epoch);
    }
    std::vector<learn::Fit> fits;
    if (fitted) {
      fits.push_back(*std::move(fitted));
    } else if (method_.base != nullptr) {
      fits.push_back(fit_on_base(*learner));
    } else {
      fits = fit_members(*learner);
    }
    return finished(std::move(fits), learner->shown());
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
      const auto own = method_.nuisance == nullptr
                           ? nullptr
                           : make_learner(method_.nuisance, prepared_, trial_, study_, settings_, context_);
      nuisance = fit_nuisance(own == nullptr ? learner : *own, set, prediction_objective(prepared_, method_),
                              settings_.nuisance_epochs, settings_.ensemble, fill, context_);
      set.nuisance_revenue = std::as_const(nuisance).revenue.view();
      set.nuisance_cost = std::as_const(nuisance).cost.view();
    }
    const learn::Predictor* start = options_.start == nullptr ? nullptr : options_.start->predictors[0].predictor.get();
    warn_of_members(start);
    std::vector<learn::Fit> fits;
    for (std::size_t member = 0; member < settings_.ensemble; ++member) {
      fits.push_back(fit_stages(learner, set, prepared_, settings_, member, start, fmt::format("member-{}", member),
                                fill, context_));
    }
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

  model::Model finished(std::vector<learn::Fit> fits, std::vector<std::pair<std::string, std::string>> shown) {
    model::Model result = frame();
    for (auto& option : shown) result.options.push_back(std::move(option));
    std::vector<learn::EpochRecord> record;
    std::vector<std::unique_ptr<learn::Predictor>> predictors;
    for (learn::Fit& fit : fits) {
      record.insert(record.end(), fit.record.begin(), fit.record.end());
      predictors.push_back(std::move(fit.predictor));
    }
    result.record = learn::record_list(record);
    result.predictors = learn::joined(std::move(predictors));
    std::optional<learn::Predicted>& unseen = fits.front().out_of_sample;
    if (fits.size() != 1 || !unseen) {
      price_budgets(result);
      return result;
    }
    set_multipliers(result, unseen->revenue.view(), unseen->cost.view());
    if (options_.on_out_of_bag) {
      options_.on_out_of_bag({{.arms = trial_.arms},
                              trial_.ids.chosen(prepared_.train_rows),
                              std::move(unseen->revenue),
                              std::move(unseen->cost)});
    }
    return result;
  }

  model::Model frame() const {
    model::Model result;
    result.version = core::version();
    result.method = method_.name;
    result.seed = settings_.seed;
    result.options = settings_.shown();
    result.study = options_.study_text;
    result.arms = trial_.arms;
    result.features = trial_.features.columns;
    result.id_column = study_.columns.id.value_or("");
    result.missing = study_.columns.missing;
    result.cost_facts = prepared_.cost_facts;
    result.trained = model::trained_units(trial_, study_.split, prepared_.is_training);
    if (options_.start != nullptr) model::add_earlier(result.trained, options_.start->trained);
    return result;
  }

  // The multiplier of each budget on (a sample of) the training units, by the finished model.
  void price_budgets(model::Model& result) {
    const std::size_t count = std::min(prepared_.train_rows.size(), kPriceUnits);
    core::Matrix<float> features(count, trial_.features.num_features());
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t row = prepared_.train_rows[i * prepared_.train_rows.size() / count];
      std::copy_n(trial_.features.values.row(row).data(), features.cols(), features.row(i).data());
    }
    core::Matrix<float> revenue(count, trial_.arms.size());
    core::Matrix<float> cost(count, trial_.arms.size());
    model::predict(result, std::as_const(features).view(), revenue.view(), cost.view(), context_);
    set_multipliers(result, revenue.view(), cost.view());
  }

  void set_multipliers(model::Model& result, core::MatrixView<const float> revenue,
                       core::MatrixView<const float> cost) const {
    const std::vector<double> multipliers =
        budget_multipliers(revenue, cost, trial_.arms.control, prepared_.budgets, context_);
    for (std::size_t i = 0; i < multipliers.size(); ++i) {
      result.multipliers.push_back({prepared_.budgets[i].label, prepared_.budgets[i].per_unit, multipliers[i],
                                    multipliers[i] * prepared_.scales.multiplier_factor(), prepared_.budgets[i].basis});
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
};

}  // namespace

model::Model train(const data::Trial& trial, const data::Study& study, const TrainOptions& options,
                   core::RunContext& context) {
  if (study.method.name != "auto") return Run(trial, study, options, context).run();
  if (options.start != nullptr) {
    throw core::Error(
        {.kind = core::ErrorKind::usage,
         .field = "start_from",
         .what = "`auto` compares methods from scratch and cannot start from a model",
         .hint = fmt::format("name a method, for example {}", core::field_name("method.name", "dfcl-mer"))});
  }
  Choice choice = choose_method(trial, study, options.time_budget_seconds, options.checkpoint_folder, context);
  data::Study chosen = study;
  chosen.method.name = choice.method;
  if (choice.alpha > 0.0) chosen.method.alpha = choice.alpha;
  if (choice.epochs > 0) chosen.method.epochs = static_cast<std::int64_t>(choice.epochs);
  model::Model result = Run(trial, chosen, options, context).run(std::move(choice.fit));
  result.options.emplace_back("chosen", choice.sentence);
  return result;
}

}  // namespace dfcl::train
