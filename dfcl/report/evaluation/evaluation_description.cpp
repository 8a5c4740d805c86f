// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/evaluation/evaluation_description.h"

#include "dfcl/report/check/check_description.h"
#include "dfcl/report/results/results_head.h"

namespace dfcl::report {

using evaluate::AuccDifferenceFigures;
using evaluate::DifferenceFigures;
using evaluate::Evaluation;
using evaluate::OracleFigures;
using evaluate::OraclePoint;

namespace {

struct TrialArmShare : evaluate::TrialArm {
  double share = 0.0;
};

struct StudyBudget {
  double per_unit = 0.0;
  double total = 0.0;
};

std::vector<TrialArmShare> trial_arms(const EvaluationReport& report) {
  std::vector<TrialArmShare> arms;
  const auto num_units = static_cast<double>(report.evaluation.num_units);
  for (const evaluate::TrialArm& arm : report.evaluation.arms)
    arms.push_back({arm, static_cast<double>(arm.num_units) / num_units});
  return arms;
}

std::vector<StudyBudget> study_budgets(const EvaluationReport& report) {
  std::vector<StudyBudget> budgets;
  for (const double per_unit : report.evaluation.budgets_per_unit)
    budgets.push_back({per_unit, per_unit * static_cast<double>(report.evaluation.num_units)});
  return budgets;
}

std::vector<ReportedModel> reported_models(const EvaluationReport& report) {
  std::vector<ReportedModel> models;
  for (const evaluate::ModelFigures& model : report.evaluation.models)
    models.push_back({model, models.size() == report.evaluation.reference});
  return models;
}

// A figure of the evaluation itself.
template <class V>
auto of(V Evaluation::*member) {
  return [member](const EvaluationReport& report) -> const V& { return report.evaluation.*member; };
}

}  // namespace

const Described<DifferenceFigures>& description(Of<DifferenceFigures>) {
  using D = DifferenceFigures;
  static const auto difference =
      Described<D>("Difference", "A model's deployed plan minus the reference's, at one budget, on the same resamples.")
          .field("model", &D::model, "the model")
          .field("reference", &D::reference, "what it is compared with")
          .field("budget_per_unit", &D::budget_per_unit, {"the budget", kPerUnit})
          .field("revenue", &D::revenue, {"difference in revenue", kPerUnit})
          .group("simultaneous",
                 Described<D>("Ends", "An interval without its estimate.")
                     .field("low", &D::simultaneous_low, "lower end")
                     .field("high", &D::simultaneous_high, "upper end"),
                 {"interval of that difference which holds for all models and budgets at once", kPerUnit})
          .field("relative", &D::relative, {"difference over the reference's revenue", kShare})
          .field("cost", &D::cost, {"how much more it spends", kPerUnit})
          .field("p_value", &D::p_value, "of no difference, for this one alone")
          .field("sentence", &D::sentence, "the difference in words, by the simultaneous interval");
  return difference;
}

const Described<AuccDifferenceFigures>& description(Of<AuccDifferenceFigures>) {
  using D = AuccDifferenceFigures;
  static const auto difference =
      Described<D>("AreaDifference", "A model's AUCC minus the reference's, for one arm, on the same resamples.")
          .field("model", &D::model, "the model")
          .field("reference", &D::reference, "what it is compared with")
          .field("arm", &D::arm, "label")
          .field("published", &D::published, "difference by levels of cost, as published")
          .field("area", &D::area, "difference of the exact areas")
          .field("p_value", &D::p_value, "of no difference of the exact areas")
          .field("sentence", &D::sentence, "the difference in words");
  return difference;
}

static const Described<OraclePoint>& description(Of<OraclePoint>) {
  static const auto point =
      Described<OraclePoint>("OraclePoint", "The best possible plan at a budget, by the truth.")
          .field("budget_per_unit", &OraclePoint::budget_per_unit, {"the budget", kPerUnit})
          .field("cost", &OraclePoint::cost, {"true cost", kPerUnit})
          .field("revenue", &OraclePoint::revenue, {"true revenue", kPerUnit})
          .field("incremental_revenue", &OraclePoint::incremental_revenue, {"over everyone in control", kPerUnit});
  return point;
}

const Described<OracleFigures>& description(Of<OracleFigures>) {
  static const auto oracle = Described<OracleFigures>("Oracle", "What a plan that knows the truth would do.")
                                 .field("curve", &OracleFigures::curve, "over all budgets")
                                 .field("at_budgets", &OracleFigures::at_budgets, "by budget");
  return oracle;
}

static const Described<TrialArmShare>& description(Of<TrialArmShare>) {
  using A = TrialArmShare;
  static const auto arm = Described<A>("TrialArm", "An arm among the rows that were looked at.")
                              .field("label", &A::label, "label")
                              .field("control", &A::is_control, "true for control")
                              .field("units", &A::num_units, {"how many", kUnits})
                              .field("share", &A::share, {"of these rows", kShare});
  return arm;
}

static const Described<StudyBudget>& description(Of<StudyBudget>) {
  static const auto budget = Described<StudyBudget>("Budget", "A budget at which plans are judged.")
                                 .field("per_unit", &StudyBudget::per_unit, {"the budget", kPerUnit})
                                 .field("total", &StudyBudget::total, {"over the rows that were looked at", kTotal});
  return budget;
}

const Described<EvaluationReport>& evaluation_body() {
  using R = EvaluationReport;
  static const auto body =
      Described<R>("Evaluation", "")
          .group("trial",
                 Described<R>("TrialRows", "The rows that were looked at.")
                     .field("split", &R::split, "`train`, `validation`, `test` or `all`")
                     .field("units", of(&Evaluation::num_units), {"how many", kUnits})
                     .field(
                         "clusters",
                         [](const R& report) {
                           const std::size_t clusters = report.evaluation.num_clusters;
                           return clusters > 0 ? std::optional(clusters) : std::nullopt;
                         },
                         "how many; null where none are declared")
                     .field("arms", trial_arms, "in the order of all lists by arm"),
                 "the rows that were looked at")
          .field("estimator", of(&Evaluation::estimator), "of policy values")
          .field("nuisance", of(&Evaluation::nuisance), "whose predictions serve the doubly robust estimator, in words")
          .field("intervals", of(&Evaluation::intervals), "`bootstrap` or `analytic`")
          .field("resamples", of(&Evaluation::num_resamples), "how many; 0 with analytic intervals")
          .field("level", of(&Evaluation::level), {"of the intervals", kShare})
          .group("control",
                 Described<R>("Control", "Everyone in control.")
                     .field("revenue", of(&Evaluation::control_revenue), {"estimated revenue", kPerUnit})
                     .field("cost", of(&Evaluation::control_cost), {"estimated cost", kPerUnit}),
                 "everyone in control")
          .field_as("budget_basis", budget_basis_schema(), of(&Evaluation::budget_basis),
                    "whether budgets are spend above everyone in control, or all spend")
          .field("value_per_revenue", of(&Evaluation::value_per_revenue),
                 "what one unit of revenue is worth in the currency of cost, by [value]; null where it is not known")
          .field("budgets", study_budgets, "at which plans are judged")
          .field("models", reported_models, "in the order in which they were given")
          .field("differences", of(&Evaluation::differences), "of the other models from the reference, by budget")
          .field("aucc_differences", of(&Evaluation::aucc_differences),
                 "of the other models' AUCC from the reference's")
          .field("baselines", of(&Evaluation::baselines), "plans that need no model: random, single_arm, control, rule")
          .field("baseline_differences", of(&Evaluation::baseline_differences),
                 "of every model from every baseline, by budget")
          .field("oracle", of(&Evaluation::oracle), "null without a truth")
          .field(
              "effects", of(&Evaluation::effects),
              "of every arm over control: of all units, by segment column, and in the leaves of a tree found on rows "
              "that are not evaluated; doubly robust where the estimator is")
          .field("check", &R::check, "what `dfcl check` found; null where it was not run");
  return body;
}

const Described<EvaluationReport>& description(Of<EvaluationReport>) {
  using R = EvaluationReport;
  static const auto evaluation =
      Described<R>("EvaluationResults", "What plans are worth.")
          .include(description(Of<ResultsHead>{}),
                   [](const R& report) {
                     return ResultsHead{"evaluation", report.provenance, report.words, report.evaluation.verdict};
                   })
          .include(evaluation_body(), [](const R& report) -> const R& { return report; })
          .field("how", of(&Evaluation::how), "how it was made and what it does not say, in sentences");
  return evaluation;
}

}  // namespace dfcl::report
