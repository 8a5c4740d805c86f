// SPDX-License-Identifier: Apache-2.0
//
// dfcl power: how large must a trial be, and what can this one show?
#include "dfcl/launch/power.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "cli/outputs.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/allocate/allocate.h"
#include "dfcl/core/error.h"
#include "dfcl/core/version.h"
#include "dfcl/evaluate/estimators/join.h"
#include "dfcl/io/predictions/prediction_file.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tables/table_summary_reader.h"
#include "dfcl/io/trial/trial_reader.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/report/launch/power_report.h"
#include "dfcl/data/budgets.h"
#include "dfcl/verbs/predict.h"

namespace dfcl::cli {
namespace {

struct PowerFlags {
  std::string study;
  std::string from_trial;  // another way to name the study
  std::vector<std::string> models;
  std::string output;
  std::string split;
  std::optional<double> sd;
  std::vector<double> gains;
  std::vector<double> relative_gains;
  std::optional<double> per_unit;
  std::optional<double> share_of_max;
  double differ = 0.3;
  double power = 0.8;
  double level = 0.95;
  std::vector<std::string> settings;
};

core::Error usage_error(std::string where, std::string what, std::string hint = "") {
  return core::Error(
      {.kind = core::ErrorKind::usage, .what = std::move(what), .where = std::move(where), .hint = std::move(hint)});
}

void check_flags(PowerFlags& flags) {
  if (flags.study.empty()) flags.study = flags.from_trial;
  if (flags.study.empty() == !flags.sd)
    throw usage_error("", "from a trial, or from a standard deviation?",
                      "dfcl power STUDY, or dfcl power --sd 3 --gain 0.1");
  if (flags.sd && flags.gains.empty()) throw usage_error("--sd", "needs --gain: which gain is to be found?");
  if (flags.sd && !(*flags.sd > 0.0))
    throw usage_error("--sd", fmt::format("found {}, expected a number above 0", *flags.sd));
  if (flags.per_unit && flags.share_of_max)
    throw usage_error("", "more than one way to say how much may be spent", "give --per-unit or --share-of-max");
  if (flags.models.size() > 2)
    throw usage_error("", fmt::format("{} models or predictions", flags.models.size()), "give two, one or none");
  for (const auto& gains : {flags.gains, flags.relative_gains}) {
    for (const double gain : gains) {
      if (!(gain > 0.0)) throw usage_error("--gain", fmt::format("found {}, expected a number above 0", gain));
    }
  }
}

// Predictions for the rows that are looked at, and whether they are outcomes.
struct Scored {
  evaluate::JoinedPrediction prediction;
  bool is_index = false;
};

Scored score(const std::string& path, const data::Trial& trial, const evaluate::TrialRows& rows,
             const std::string& trial_path, core::RunContext& context) {
  if (io::is_safetensors(path)) {
    const model::Model model = model::read_model(path);
    std::vector<std::uint8_t> is_chosen(trial.num_units());
    for (const std::size_t row : rows.trial_row) is_chosen[row] = 1;
    if (model::overlap_with(model.trained, trial, is_chosen).num_trained > 0)
      context.warn(
          fmt::format("{}: was trained on some of these rows, so the difference is flattered; --split test", path));
    return {evaluate::join_prediction(model::predict_file(model, trial_path, context), rows, trial.ids, path),
            model.is_index()};
  }
  return {evaluate::join_prediction(io::read_prediction(path, "", context).prediction, rows, trial.ids, path),
          verbs::holds_index(io::read_provenance(path))};
}

std::vector<std::uint8_t> plan_of(const Scored& scored, std::size_t control, double budget, const std::string& path,
                                  core::RunContext& context) {
  allocate::Problem problem{.revenue = scored.prediction.revenue.view(), .cost = scored.prediction.cost.view()};
  problem.rules.control = control;
  allocate::Solution solution = allocate::allocate(problem, budget, context);
  if (!solution.has_plan()) {
    throw core::Error({.kind = core::ErrorKind::infeasible,
                       .what = "the budget cannot be met",
                       .where = path,
                       .found = fmt::format("{}", budget),
                       .expected = fmt::format("at least {}", solution.least_spend)});
  }
  return std::move(solution.arm);
}

std::optional<data::Split> split_named(const std::string& name) {
  if (name == "train") return data::Split::train;
  if (name == "validation") return data::Split::validation;
  if (name == "test") return data::Split::test;
  return std::nullopt;
}

void look_at_trial(const PowerFlags& flags, report::PowerFigures& figures, core::RunContext& context) {
  data::Study study = io::read_study(flags.study, flags.settings);
  if (flags.per_unit) study.budgets = {{*flags.per_unit}, {}, {}, study.budgets.include_control};
  if (flags.share_of_max) study.budgets = {{}, {}, {*flags.share_of_max}, study.budgets.include_control};
  const std::string trial_path = (std::filesystem::path(study.folder) / study.data.trial.value_or("")).string();
  if (!flags.output.empty()) require_output(flags.output, {flags.study, trial_path});
  const data::Trial trial = io::read_trial(study, context);
  figures.split = !flags.split.empty() ? flags.split : flags.models.empty() ? "all" : "test";
  const evaluate::TrialRows rows = evaluate::rows_of(trial, split_named(figures.split));
  figures.split_share = static_cast<double>(rows.size()) / static_cast<double>(trial.num_units());
  figures.title = study.report.title.value_or("");
  figures.currency = study.report.currency.value_or("");
  figures.revenue_name = study.report.revenue_name.value_or(study.columns.revenue);
  std::vector<Scored> scored;
  for (const std::string& path : flags.models) scored.push_back(score(path, trial, rows, trial_path, context));
  evaluate::Outcomes nuisance;
  if (!scored.empty() && !scored[0].is_index) nuisance = scored[0].prediction.outcomes();
  if (scored.size() < 2) {
    figures.pair = launch::assume_plans(rows, nuisance, flags.differ);
    return;
  }
  figures.budget_per_unit =
      data::resolve_budgets(study, trial).front().total_per_unit(data::arm_costs(trial).of_control());
  const double budget = figures.budget_per_unit * static_cast<double>(rows.size());
  const auto plan_a = plan_of(scored[0], trial.arms.control, budget, flags.models[0], context);
  const auto plan_b = plan_of(scored[1], trial.arms.control, budget, flags.models[1], context);
  figures.pair = launch::compare_plans(rows, nuisance, plan_a, plan_b, flags.level);
  figures.name_a = std::filesystem::path(flags.models[0]).stem().string();
  figures.name_b = std::filesystem::path(flags.models[1]).stem().string();
  if (figures.pair.sd == 0.0)
    throw usage_error(flags.models[1], "makes the same plan as the first: nothing to tell apart");
}

int run_power(PowerFlags& flags, bool as_json, core::RunContext& context) {
  check_flags(flags);
  report::PowerFigures figures;
  figures.levels = {flags.power, flags.level};
  launch::validate(figures.levels);
  if (flags.sd) {
    figures.has_trial = false;
    figures.pair.sd = *flags.sd;
    if (!flags.output.empty()) require_output(flags.output, {});
  } else {
    look_at_trial(flags, figures, context);
  }
  figures.gains = flags.gains;
  for (const double share : flags.relative_gains) figures.gains.push_back(share * figures.pair.revenue_a);
  if (figures.gains.empty()) {
    for (const double share : {0.01, 0.02, 0.05}) figures.gains.push_back(share * figures.pair.revenue_a);
  }
  const data::Provenance provenance{"power",
                                    core::version(),
                                    "power",
                                    {{"power", fmt::format("{}", flags.power)},
                                     {"level", fmt::format("{}", flags.level)},
                                     {"split", figures.has_trial ? figures.split : ""},
                                     {"differ", figures.pair.plans_are_known ? "" : fmt::format("{}", flags.differ)}}};
  const std::string json = report::power_json(figures, provenance);
  if (!flags.output.empty()) io::write_text_file(flags.output, json);
  fmt::print("{}", as_json ? json : report::power_text(figures));
  return 0;
}

}  // namespace

void add_power(Session& session) {
  const auto flags = std::make_shared<PowerFlags>();
  CLI::App& verb = session.add_verb(
      "power",
      "how large must a trial be to tell two plans apart, and what can this one show?\n"
      "With two models or predictions: their plans at the budget, on rows they have not seen. With one or none: plans "
      "that give\nother arms to a share of the units. Without a study: from a standard deviation.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --study study.toml --truth "
      "truth.parquet\n"
      "dfcl power study.toml --relative-gain 0.01,0.02\n"
      "dfcl power --sd 12 --gain 0.2 --power 0.9",
      [flags, &session](core::RunContext& context) { return run_power(*flags, session.json(), context); });
  verb.add_option("STUDY", flags->study, "the study of a trial like the next one");
  verb.add_option("MODEL|PREDICTIONS", flags->models, "two models or files of predictions to tell apart");
  verb.add_option("--from-trial", flags->from_trial, "the study, as an option");
  verb.add_option("-o,--output", flags->output, "the results to write, .json, for dfcl report");
  verb.add_option("--gain", flags->gains, "gains to be found, revenue per unit; several as 0.1,0.2")->delimiter(',');
  verb.add_option("--relative-gain", flags->relative_gains,
                  "the same, relative to the first plan's revenue\nDefault: 0.01,0.02,0.05.")
      ->delimiter(',');
  verb.add_option("--per-unit", flags->per_unit, "the budget as spend per unit\nDefault: the study's first.");
  verb.add_option("--share-of-max", flags->share_of_max,
                  "the budget as a share of the trial's mean cost in its costliest arm");
  verb.add_option("--split", flags->split, "the rows to look at\nDefault: test with models, else all.")
      ->check(one_of({"train", "validation", "test", "all"}));
  verb.add_option("--differ", flags->differ,
                  "without two models: share of the units to which the plans give other arms\nDefault: 0.3.");
  verb.add_option("--sd", flags->sd, "without a study: sd of the paired difference, per unit");
  verb.add_option("--power", flags->power, "probability with which the gain is to be found\nDefault: 0.8.");
  verb.add_option("--level", flags->level, "level of the interval that must leave out zero\nDefault: 0.95.");
  verb.add_option("--set", flags->settings, "any key of the study: section.key=value; may be repeated");
}

}  // namespace dfcl::cli
