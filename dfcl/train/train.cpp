// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/train.h"

#include <fmt/format.h>

#include <optional>

#include "dfcl/core/error.h"
#include "dfcl/core/version.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/train/checkpoint.h"
#include "dfcl/train/choose.h"
#include "dfcl/train/forest_method.h"
#include "dfcl/train/nuisance.h"
#include "dfcl/train/record_json.h"
#include "dfcl/train/run_key.h"

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
        checkpoint_(options.checkpoint_folder, run_key(trial, study, settings_)) {}

  // grown: the forest of this trial and study where the choosing of `auto` has grown it.
  model::Model run(std::optional<ForestFit> grown = {}) {
    if (method_.grows_forest) return run_forest(std::move(grown));
    const bool doubly_robust = settings_.needs_nuisance();
    // The two networks of the doubly robust form have half of the units each.
    total_rows_ = prepared_.train_rows.size() *
                  (settings_.epochs * settings_.ensemble + (doubly_robust ? settings_.nuisance_epochs : 0));
    if (doubly_robust) {
      const auto to_epochs = [this](MemberTrainer& trainer, const std::string& name, std::size_t epochs) {
        finish(trainer, name, epochs);
      };
      nuisance_ =
          fit_nuisance(trial_, prepared_, settings_, prepared_.train_rows, settings_.ensemble, to_epochs, context_);
    }
    if (options_.start != nullptr && options_.start->members.size() > settings_.ensemble) {
      context_.warn(fmt::format(
          "the starting model is the mean of {0} networks, of which {1} {2}; --ensemble {0} takes all",
          options_.start->members.size(), settings_.ensemble, settings_.ensemble == 1 ? "goes on" : "go on"));
    }
    model::Model result = frame();
    std::vector<EpochRecord> record;
    for (std::size_t member = 0; member < settings_.ensemble; ++member) {
      MemberTrainer trainer(trial_, prepared_, settings_, member, prepared_.train_rows, context_);
      if (options_.start != nullptr)
        trainer.start_from(options_.start->members[member % options_.start->members.size()]);
      if (doubly_robust) trainer.set_nuisance(nuisance_.revenue.view(), nuisance_.cost.view());
      finish(trainer, fmt::format("member-{}", member), settings_.epochs);
      result.members.push_back(trainer.result());
      record.insert(record.end(), trainer.state().record.begin(), trainer.state().record.end());
    }
    context_.finished("training");
    result.record = record_list(record);
    price_budgets(result);
    return result;
  }

 private:
  model::Model run_forest(std::optional<ForestFit> grown) {
    if (options_.start != nullptr) {
      throw core::Error({.kind = core::ErrorKind::usage,
                         .what = "a forest cannot start from a model",
                         .where = "--start-from",
                         .hint = "name a method of networks, for example --method tsm"});
    }
    if (grown && options_.on_epoch) {
      for (const EpochRecord& epoch : grown->record) options_.on_epoch(epoch);
    }
    ForestFit fit = grown ? *std::move(grown) : grow();
    model::Model result = frame();
    for (auto& option :
         shown(forest_options_of(study_, prepared_.train_rows.size(), trial_.arms.size(), settings_.seed)))
      result.options.push_back(std::move(option));
    result.members = std::move(fit.members);
    result.record = record_list(fit.record);
    result.forest = std::move(fit.forest);
    set_multipliers(result, fit.revenue.view(), fit.cost.view());
    if (options_.on_out_of_bag) {
      options_.on_out_of_bag({{.arms = trial_.arms},
                              trial_.ids.chosen(prepared_.train_rows),
                              std::move(fit.revenue),
                              std::move(fit.cost)});
    }
    return result;
  }

  ForestFit grow() {
    total_rows_ = settings_.epochs * prepared_.train_rows.size();  // two networks, half of the units each
    const auto to_epochs = [this](MemberTrainer& trainer, const std::string& name, std::size_t epochs) {
      finish(trainer, name, epochs);
      if (rows_done_ == total_rows_) context_.finished("training");
    };
    return fit_forest(trial_, study_, prepared_, settings_, to_epochs, context_);
  }

  // Trains until `epochs`, from the checkpoint if there is one.
  void finish(MemberTrainer& trainer, const std::string& name, std::size_t epochs) {
    if (checkpoint_.load(name, trainer.state())) rows_done_ += trainer.state().epochs_done * trainer.num_units();
    while (trainer.state().epochs_done < epochs) {
      trainer.run_epoch();
      const EpochRecord& record = trainer.state().record.back();
      if (options_.on_epoch) options_.on_epoch(record);
      checkpoint_.save(name, trainer.state());
      rows_done_ += trainer.num_units();
      context_.detail(
          record.decides ? fmt::format("loss {:.4g}, of decisions {:.4g}", record.prediction_loss, record.decision_loss)
                         : fmt::format("loss {:.4g}", record.prediction_loss));
      context_.progress("training", rows_done_, total_rows_);
    }
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
    result.preprocessing = prepared_.preprocessing;
    result.network = prepared_.network;
    result.revenue = prepared_.revenue_scale;
    result.cost = prepared_.cost_scale;
    result.efficiency_cost_scale = prepared_.efficiency_cost_scale;
    if (method_.loss == DecisionLoss::drm) result.revenue_form = model::RevenueForm::drm_scores;
    if (method_.loss == DecisionLoss::drp) result.revenue_form = model::RevenueForm::drp_scores;
    if (method_.loss == DecisionLoss::dpm) result.revenue_form = model::RevenueForm::dpm_scores;
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
    model::Predictor(result).predict(std::as_const(features).view(), revenue.view(), cost.view(), context_);
    set_multipliers(result, revenue.view(), cost.view());
  }

  void set_multipliers(model::Model& result, core::MatrixView<const float> revenue,
                       core::MatrixView<const float> cost) const {
    const std::vector<double> multipliers = budget_multipliers(revenue, cost, trial_.arms.control, prepared_.budgets, context_);
    for (std::size_t i = 0; i < multipliers.size(); ++i) {
      result.multipliers.push_back({prepared_.budgets[i].label, prepared_.budgets[i].per_unit, multipliers[i],
                                    multipliers[i] * prepared_.multiplier_factor()});
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
  Nuisance nuisance_;
  std::size_t rows_done_ = 0;
  std::size_t total_rows_ = 0;
};

}  // namespace

model::Model train(const data::Trial& trial, const data::Study& study, const TrainOptions& options,
                   core::RunContext& context) {
  if (study.method.name != "auto") return Run(trial, study, options, context).run();
  if (options.start != nullptr) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "`auto` compares methods from scratch and cannot start from a model",
                       .where = "--start-from",
                       .hint = "name a method, for example --method dfcl-mer"});
  }
  Choice choice = choose_method(trial, study, options.time_budget_seconds, options.checkpoint_folder, context);
  data::Study chosen = study;
  chosen.method.name = choice.method;
  if (choice.alpha > 0.0) chosen.method.alpha = choice.alpha;
  if (choice.epochs > 0) chosen.method.epochs = static_cast<std::int64_t>(choice.epochs);
  model::Model result = Run(trial, chosen, options, context).run(std::move(choice.forest));
  result.options.emplace_back("chosen", choice.sentence);
  return result;
}

}  // namespace dfcl::train
