// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/verdict.h"

#include <gtest/gtest.h>

namespace dfcl::evaluate {
namespace {

// One budget, 1,000 units, control costs 0.1 a unit. gain, deviation: over control.
ModelFigures model_of(const std::string& name, double gain, double deviation, double budget = 1.0) {
  ModelFigures model;
  model.name = name;
  JudgedPlan plan;
  plan.budget_per_unit = budget;
  plan.incremental_revenue = core::normal_interval(gain, deviation, 0.95);
  plan.cost = Interval(budget, budget, budget);
  plan.spend_over_budget = Interval(0.0, 0.0, 0.0);
  model.deployed = {plan};
  return model;
}

DifferenceFigures difference(const std::string& name, double low, double high) {
  DifferenceFigures figures;
  figures.model = name;
  figures.reference = "tsm";
  figures.simultaneous_low = low;
  figures.simultaneous_high = high;
  figures.sentence = "The difference of " + name + ".";
  return figures;
}

Evaluation evaluation_of(std::vector<ModelFigures> models, std::vector<DifferenceFigures> differences) {
  Evaluation evaluation;
  evaluation.num_units = 1000;
  evaluation.budgets_per_unit = {models.front().deployed.front().budget_per_unit};
  evaluation.control_cost = Interval(0.1);
  evaluation.models = std::move(models);
  evaluation.differences = std::move(differences);
  evaluation.increment_critical = 2.5;
  evaluation.increment_critical_of_all = 4.0;
  return evaluation;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Verdict, PrefersAnotherModelOnlyWhereItIsShownToEarnMoreThanTheReference) {
  // Both gain: 3 deviations against a bar of 2.5; the other has the larger gain.
  const std::vector<ModelFigures> models = {model_of("tsm", 3.0, 1.0), model_of("mer", 9.0, 1.0)};
  const Verdict even = verdict_of(evaluation_of(models, {difference("mer", -0.1, 12.0)}), {});
  EXPECT_EQ(even.status, "launch");
  EXPECT_TRUE(even.sentence.starts_with("Launch tsm: ")) << even.sentence;
  EXPECT_TRUE(even.sentence.ends_with(" No other model is shown to differ from tsm at this budget.")) << even.sentence;
  const Verdict better = verdict_of(evaluation_of(models, {difference("mer", 0.1, 12.0)}), {});
  EXPECT_TRUE(better.sentence.starts_with("Launch mer: ")) << better.sentence;
  EXPECT_TRUE(better.sentence.ends_with(" The difference of mer.")) << better.sentence;
  const Verdict worse = verdict_of(evaluation_of(models, {difference("mer", -3.0, -0.1)}), {});
  EXPECT_TRUE(worse.sentence.starts_with("Launch tsm: ")) << worse.sentence;
  EXPECT_TRUE(worse.sentence.ends_with(" Shown to earn less than tsm at this budget: mer.")) << worse.sentence;
}

TEST(Verdict, SaysWhenOnlyAnotherModelThanTheReferenceIsShownToGain) {
  const Verdict verdict =
      verdict_of(evaluation_of({model_of("tsm", 2.2, 1.0), model_of("pl", 2.7, 1.0), model_of("mer", 4.0, 1.0)},
                               {difference("pl", -1.0, 2.0), difference("mer", -1.0, 3.0)}),
                 {});
  EXPECT_EQ(verdict.status, "launch");
  EXPECT_TRUE(verdict.sentence.starts_with("Launch mer: ")) << verdict.sentence;
  EXPECT_TRUE(verdict.sentence.ends_with(" mer is shown to gain; tsm is not; no difference between them is shown."))
      << verdict.sentence;
}

TEST(Verdict, NeverLaunchesAnAlternative) {
  ModelFigures alternative = model_of("mer alpha=2", 9.0, 1.0);
  alternative.is_alternative = true;
  const Verdict verdict =
      verdict_of(evaluation_of({model_of("tsm", 1.0, 1.0), alternative}, {difference("mer alpha=2", 1.0, 12.0)}), {});
  EXPECT_EQ(verdict.status, "not_shown");
  EXPECT_FALSE(has(verdict.sentence, "alpha")) << verdict.sentence;
  EXPECT_FALSE(has(verdict.details[1], "not shown")) << verdict.details[1];
  alternative = model_of("mer alpha=2", 3.0, 1.0);
  alternative.is_alternative = true;
  const Verdict by_all =
      verdict_of(evaluation_of({model_of("tsm", 3.0, 1.0), alternative}, {difference("mer alpha=2", -1.0, 1.0)}), {});
  EXPECT_FALSE(has(by_all.details[0], "not shown")) << "the bar of methods does not count alternatives";
  EXPECT_TRUE(has(by_all.details[1], "not shown")) << "that of alternatives counts all";
}

TEST(Verdict, NeverLaunchesAPlanThatCannotKeepToItsBudget) {
  ModelFigures model = model_of("tsm", 9.0, 1.0);
  model.deployed.front().feasible = false;
  const Verdict verdict = verdict_of(evaluation_of({model}, {}), {});
  EXPECT_EQ(verdict.status, "not_shown");
  EXPECT_TRUE(has(verdict.details[0], "cannot meet this budget")) << verdict.details[0];
}

TEST(Verdict, SaysWhyAnIntervalWithoutZeroIsNotEnough) {
  const Verdict verdict = verdict_of(
      evaluation_of({model_of("tsm", 2.2, 1.0), model_of("mer", 0.5, 1.0)}, {difference("mer", -2.0, 1.0)}), {});
  EXPECT_EQ(verdict.status, "not_shown");
  EXPECT_TRUE(verdict.sentence.ends_with(" No other model is shown to differ from tsm.")) << verdict.sentence;
  EXPECT_TRUE(verdict.details[0].ends_with("; a gain is not shown once all comparisons are counted."))
      << verdict.details[0];
  EXPECT_TRUE(verdict.details[1].ends_with("; a gain is not shown.")) << verdict.details[1];
}

TEST(Verdict, NamesBudgetsBelowWhatControlCosts) {
  const Verdict below = verdict_of(evaluation_of({model_of("tsm", 3.0, 1.0, 0.05)}, {}), {});
  EXPECT_TRUE(
      has(below.sentence, "Everyone in control costs 0.1 per unit: that is more than the budget of 0.05 per unit."))
      << below.sentence;
  EXPECT_TRUE(has(below.details[0], "Control alone costs more than this budget.")) << below.details[0];
  const Verdict above = verdict_of(evaluation_of({model_of("tsm", 3.0, 1.0, 0.2)}, {}), {});
  EXPECT_FALSE(has(above.sentence + above.details[0], "ontrol costs")) << above.sentence;
}

}  // namespace
}  // namespace dfcl::evaluate
