// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dfcl/core/interval.h"

namespace dfcl::evaluate {
namespace {

constexpr double kCritical = 2.5;  // of all that is said at once

Interval at_once(double value, double deviation) {
  return {value, value - kCritical * deviation, value + kCritical * deviation};
}

std::string answer(const Interval& interval) {
  return interval.low > 0.0 ? "yes" : interval.high < 0.0 ? "no" : "not_shown";
}

// A model at one budget: 1,000 units, what it gains over control, over random and in profit, each -+ 1 deviation of 1.
struct Case {
  std::string name;
  double gain = 0.0;
  double over_random = 0.0;
  std::optional<double> profit = {};
  double budget = 1.0;
  bool feasible = true;
  bool alternative = false;
  double random_profit = 3.0;            // of the same money spent at random
  std::optional<double> over_rule = {};  // none: no rule is known
};

Evaluation evaluation_of(const std::vector<Case>& cases) {
  Evaluation evaluation;
  evaluation.num_units = 1000;
  evaluation.budgets_per_unit = {cases.front().budget};
  evaluation.control_cost = Interval(0.1);
  BaselineFigures random{"random", {"arm '5' for a random 40 % of the units"}, {JudgedPlan()}, {}};
  if (cases.front().profit) {
    random.plans[0].incremental_profit = random.plans[0].simultaneous_profit =
        at_once(cases.front().random_profit, 1.0);
    random.plans[0].pays_back = answer(*random.plans[0].simultaneous_profit);
  }
  evaluation.baselines.push_back(random);
  for (const Case& one : cases) {
    ModelFigures model;
    model.name = one.name;
    model.is_alternative = one.alternative;
    JudgedPlan plan;
    plan.budget_per_unit = one.budget;
    plan.feasible = one.feasible;
    plan.incremental_revenue = core::normal_interval(one.gain, 1.0, 0.95);
    plan.simultaneous_increment = at_once(one.gain, 1.0);
    plan.cost = Interval(one.budget, one.budget, one.budget);
    plan.incremental_cost = Interval(one.budget - 0.1, one.budget - 0.1, one.budget - 0.1);
    plan.return_per_cost = Interval(0.2, 0.1, 0.4);
    plan.spend_over_budget = Interval(0.0, 0.0, 0.0);
    plan.pays_back = answer(plan.simultaneous_increment);
    if (plan.pays_back == "yes") plan.pays_back = "depends";
    if (one.profit) {
      evaluation.value_per_revenue = 0.5;
      plan.incremental_profit = core::normal_interval(*one.profit, 1.0, 0.95);
      plan.simultaneous_profit = at_once(*one.profit, 1.0);
      plan.pays_back = answer(*plan.simultaneous_profit);
    }
    model.deployed = {plan};
    evaluation.models.push_back(model);
    BaselineDifferenceFigures over;
    over.model = one.name;
    over.baseline = "random";
    over.budget_per_unit = one.budget;
    over.net = core::normal_interval(one.over_random, 1.0, 0.95);
    over.simultaneous_low = one.over_random - kCritical;
    over.simultaneous_high = one.over_random + kCritical;
    over.answer = answer(at_once(one.over_random, 1.0));
    over.sentence = "The difference from random.";
    evaluation.baseline_differences.push_back(over);
    if (!one.over_rule) continue;
    over.baseline = "rule";
    over.answer = answer(at_once(*one.over_rule, 1.0));
    over.sentence = "The difference from the rule.";
    evaluation.baseline_differences.push_back(over);
  }
  return evaluation;
}

Verdict verdict(const std::vector<Case>& cases) { return verdict_of(evaluation_of(cases), {}); }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Verdict, LaunchesWhatPaysBackAndBeatsRandom) {
  const Verdict found = verdict({{.name = "tsm", .gain = 9.0, .over_random = 4.0, .profit = 3.0}});
  EXPECT_EQ(found.status, "launch");
  EXPECT_EQ(found.pays_back, "yes");
  EXPECT_EQ(found.beats_random, "yes");
  EXPECT_EQ(found.sentence,
            "Launch tsm at a budget of 1 per unit: targeting adds 4,000 revenue (95 % interval 1,500 to 6,500) over "
            "random at equal spend, 9,000 (95 % interval 6,500 to 11,500) over control, 3,000 profit (95 % interval "
            "500 to 5,500), on "
            "these 1,000 units.");
}

TEST(Verdict, RecommendsTheSimpleRollOutWhereTargetingIsNotShown) {
  const Verdict found = verdict({{.name = "tsm", .gain = 9.0, .over_random = 2.0, .profit = 3.0}});
  EXPECT_EQ(found.status, "roll_out");
  EXPECT_EQ(found.pays_back, "yes");
  EXPECT_EQ(found.beats_random, "not_shown");
  EXPECT_TRUE(
      found.sentence.starts_with("Pays back, targeting not shown: tsm at a budget of 1 per unit, targeting adds "
                                 "2,000 revenue (95 % interval -500 to 4,500) over random"))
      << found.sentence;
  EXPECT_TRUE(
      found.sentence.ends_with("The simple roll-out will do: arm '5' for a random 40 % of the units, at a "
                               "budget of 1 per unit: 3,000 profit (95 % interval 500 to 5,500)."))
      << found.sentence;
  const Verdict worse = verdict({{.name = "tsm", .gain = 9.0, .over_random = -4.0, .profit = 3.0}});
  EXPECT_EQ(worse.beats_random, "no");
  EXPECT_TRUE(worse.sentence.starts_with("Pays back, targeting does worse than random: ")) << worse.sentence;
  EXPECT_TRUE(
      has(worse.sentence, "targeting changes revenue by -4,000 (95 % interval -6,500 to -1,500) against random"))
      << worse.sentence;
}

TEST(Verdict, RollsOutOnlyWhatPaysBackItself) {
  const Verdict found =
      verdict({{.name = "tsm", .gain = 9.0, .over_random = 2.0, .profit = 3.0, .random_profit = 1.0}});
  EXPECT_EQ(found.status, "pays_back");
  EXPECT_EQ(found.pays_back, "yes");
  EXPECT_TRUE(
      found.sentence.ends_with("The same money without a model is not shown to pay back: arm '5' for a random 40 "
                               "% of the units, at a budget of 1 per unit: 1,000 profit (95 % interval -1,500 "
                               "to 3,500). Launch with a hold-out to learn more."))
      << found.sentence;
}

TEST(Verdict, NeverLaunchesWhatTodaysRuleBeats) {
  const std::vector<Case> cases = {{.name = "a", .gain = 9.0, .over_random = 4.0, .profit = 9.0, .over_rule = -4.0},
                                   {.name = "b", .gain = 9.0, .over_random = 4.0, .profit = 3.0, .over_rule = -3.0}};
  const Verdict keep = verdict(cases);
  EXPECT_EQ(keep.status, "keep_rule");
  EXPECT_EQ(keep.pays_back, "yes");
  EXPECT_TRUE(keep.sentence.starts_with("Keep today's rule: it beats every plan that gains. The best is a at "))
      << keep.sentence;
  EXPECT_TRUE(keep.sentence.ends_with("The difference from the rule.")) << keep.sentence;
  // One that the rule is not shown to beat is launched, though another is shown to gain more.
  std::vector<Case> other = cases;
  other[1].over_rule = 0.0;
  EXPECT_EQ(verdict(other).status, "launch");
  EXPECT_EQ(verdict(other).model, "b");
}

TEST(Verdict, PrefersWhatMayPayBackToWhatIsShownToLose) {
  // b loses little and surely; a may gain or lose much.
  Evaluation evaluation = evaluation_of({{.name = "a", .gain = 1.0, .profit = -1.0}, {.name = "b", .profit = -1.0}});
  JudgedPlan& sure = evaluation.models[1].deployed[0];
  sure.simultaneous_profit = Interval(-1.0, -2.0, -0.1);
  sure.pays_back = "no";
  const Verdict found = verdict_of(evaluation, {});
  EXPECT_EQ(found.status, "not_shown");
  EXPECT_EQ(found.model, "a");
  EXPECT_EQ(found.pays_back, "not_shown");
}

TEST(Verdict, WritesNumbersAsTheStudyWantsThem) {
  const Evaluation evaluation =
      evaluation_of({{.name = "tsm", .gain = 9.0, .over_random = 4.0, .profit = 3.0, .budget = 1.5}});
  const Verdict found = verdict_of(evaluation, {{"sales", "cost", "EUR", ",", "."}, "", 1});
  EXPECT_TRUE(
      found.sentence.starts_with("Launch tsm at a budget of EUR 1,5 per unit: targeting adds 4.000 sales (95 % "
                                 "interval 1.500 to 6.500) over random"))
      << found.sentence;
}

TEST(Verdict, NeverLaunchesAPlanThatLosesMoney) {
  // The gain over control and over random is clear; it costs more than it is worth.
  const Verdict found = verdict({{.name = "tsm", .gain = 9.0, .over_random = 4.0, .profit = -3.0}});
  EXPECT_EQ(found.status, "loses");
  EXPECT_EQ(found.pays_back, "no");
  EXPECT_TRUE(found.sentence.starts_with("Do not launch: no plan pays back at any of these budgets."))
      << found.sentence;
  const Verdict unclear = verdict({{.name = "tsm", .gain = 9.0, .over_random = 4.0, .profit = -3.0},
                                   {.name = "mer", .gain = 9.0, .over_random = 4.0, .profit = 2.0}});
  EXPECT_EQ(unclear.status, "not_shown");
  EXPECT_EQ(unclear.pays_back, "not_shown");
  EXPECT_EQ(unclear.model, "mer");
  EXPECT_TRUE(unclear.sentence.starts_with("No plan is shown to pay back at any of these budgets. Closest to it is "))
      << unclear.sentence;
}

TEST(Verdict, SaysWhatRevenueMustBeWorthWhereItIsNotKnown) {
  const Verdict found = verdict({{.name = "tsm", .gain = 9.0, .over_random = 4.0}});
  EXPECT_EQ(found.status, "gain_shown");
  EXPECT_EQ(found.pays_back, "depends");
  EXPECT_EQ(found.beats_random, "yes");
  EXPECT_TRUE(found.sentence.starts_with("Earns more than control: ")) << found.sentence;
  EXPECT_TRUE(has(found.sentence,
                  "It returns 0.2 revenue per cost (95 % interval of this figure alone 0.1 to 0.4): it breaks even "
                  "where one unit of revenue "
                  "is worth 5 (2.5 to 10); [value] says what it is worth."))
      << found.sentence;
  const Verdict none = verdict({{.name = "tsm", .gain = 2.2, .over_random = 4.0}});
  EXPECT_EQ(none.status, "not_shown");
  EXPECT_TRUE(none.sentence.starts_with(
      "No plan is shown to earn more than control at any of these budgets. Closest to it is "))
      << none.sentence;
  EXPECT_TRUE(has(none.details[0], "; a gain is not shown once all comparisons are counted.")) << none.details[0];
}

TEST(Verdict, DoesNotDependOnTheOrderOfTheModels) {
  std::vector<Case> cases = {{.name = "a", .gain = 9.0, .over_random = 2.0, .profit = 9.0},
                             {.name = "b", .gain = 9.0, .over_random = 3.0, .profit = 3.0},
                             {.name = "c", .gain = 9.0, .over_random = 3.0, .profit = 4.0},
                             {.name = "d", .gain = 9.0, .over_random = 3.0, .profit = 4.0}};
  const Verdict first = verdict(cases);
  EXPECT_EQ(first.model, "c") << "of those that beat random the one that is shown to gain most, by name where they tie";
  std::sort(cases.begin(), cases.end(), [](const Case& x, const Case& y) { return x.name < y.name; });
  do {
    const Verdict other = verdict(cases);
    EXPECT_EQ(other.sentence, first.sentence);
    EXPECT_EQ(other.status, first.status);
  } while (
      std::next_permutation(cases.begin(), cases.end(), [](const Case& x, const Case& y) { return x.name < y.name; }));
}

TEST(Verdict, SaysThatAPlanIsRandomsOwn) {
  Evaluation evaluation = evaluation_of({{.name = "tsm", .gain = 9.0, .over_random = 0.0, .profit = 3.0}});
  evaluation.baseline_differences[0].simultaneous_low = evaluation.baseline_differences[0].simultaneous_high = 0.0;
  const Verdict found = verdict_of(evaluation, {});
  EXPECT_EQ(found.status, "roll_out");
  EXPECT_TRUE(has(found.sentence, "targeting gives everyone what random does, 9,000 ")) << found.sentence;
}

TEST(Verdict, NeverLaunchesAnAlternative) {
  const Verdict found =
      verdict({{.name = "tsm", .gain = 1.0, .over_random = 1.0, .profit = 1.0},
               {.name = "mer alpha=2", .gain = 9.0, .over_random = 9.0, .profit = 9.0, .alternative = true}});
  EXPECT_EQ(found.status, "not_shown");
  EXPECT_FALSE(has(found.sentence, "alpha")) << found.sentence;
}

TEST(Verdict, NeverLaunchesAPlanThatCannotKeepToItsBudget) {
  const Verdict found =
      verdict({{.name = "tsm", .gain = 9.0, .over_random = 9.0, .profit = 9.0, .budget = 1.0, .feasible = false}});
  EXPECT_EQ(found.status, "not_shown") << "a plan that gains but cannot keep to its budget is no loss";
  EXPECT_EQ(found.pays_back, "not_shown");
  EXPECT_TRUE(found.sentence.starts_with("No plan can keep to any of these budgets. The best is tsm "))
      << found.sentence;
  EXPECT_TRUE(has(found.details[0], "cannot meet this budget")) << found.details[0];
}

TEST(Verdict, NamesBudgetsBelowWhatControlCosts) {
  const Verdict below = verdict({{.name = "tsm", .gain = 3.0, .budget = 0.05}});
  EXPECT_TRUE(
      has(below.sentence, "Everyone in control costs 0.1 per unit: that is more than the budget of 0.05 per unit."))
      << below.sentence;
  EXPECT_TRUE(has(below.details[0], "Control alone costs more than this budget.")) << below.details[0];
  const Verdict above = verdict({{.name = "tsm", .gain = 3.0, .budget = 0.2}});
  EXPECT_FALSE(has(above.sentence + above.details[0], "ontrol costs")) << above.sentence;
}

TEST(Verdict, NamesArmsOfTooFewUnits) {
  Evaluation evaluation = evaluation_of({{.name = "tsm", .gain = 9.0, .over_random = 4.0, .profit = 3.0}});
  evaluation.arms = {
      {.label = "0", .num_units = 500}, {.label = "5", .num_units = 29}, {.label = "10", .num_units = 30}};
  const std::string found = verdict_of(evaluation, {}).sentence;
  EXPECT_TRUE(has(found,
                  "Too few: arm '5' has 29 units here, and intervals of plans that use it hold less often than "
                  "they say below 30 units."))
      << found;
  evaluation.arms[1].num_units = 30;
  EXPECT_FALSE(has(verdict_of(evaluation, {}).sentence, "Too few"));
}

TEST(Verdict, SaysThatAnUnfitTrialProvesNothing) {
  const Verdict found = verdict_of(evaluation_of({{.name = "tsm", .gain = 9.0, .over_random = 4.0, .profit = 3.0}}),
                                   {{}, "the arms differ.", 1});
  EXPECT_EQ(found.status, "unfit");
  EXPECT_EQ(found.pays_back, "not_shown");
}

}  // namespace
}  // namespace dfcl::evaluate
