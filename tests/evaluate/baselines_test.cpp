// SPDX-License-Identifier: Apache-2.0
//
// Plans that need no model, profit, and what the facts of a study do to estimates: on small trials with known answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "dfcl/core/hash.h"
#include "dfcl/evaluate/evaluate.h"
#include "small_trials.h"

namespace dfcl::evaluate {
namespace {

EvaluationOptions small_options() {
  EvaluationOptions options;
  options.budgets_per_unit = {0.4, 1.5};
  options.budget_basis = data::BudgetBasis::incremental;
  options.num_resamples = 64;
  options.num_curve_points = 5;
  options.areas = false;
  return options;
}

// Arm 1 returns 1 per cost, arm 2 on top of it 0.2.
const ArmMeans kMeans = {{1.0, 2.0, 2.2}, {0.0, 1.0, 2.0}, true};

struct Made {
  SmallTrial small;
  TrialRows rows;
  Predicted x, y;

  explicit Made(std::uint64_t seed, const SmallTrialOptions& options = {.num_units = 2000})
      : small(small_trial(seed, options)),
        rows(rows_of(small.trial, std::nullopt)),
        x(predict(small.x, small.y, sees_x)),
        y(predict(small.x, small.y, sees_y)) {}

  Evaluation judge(const EvaluationOptions& options, const std::vector<std::uint8_t>& rule = {},
                   bool swapped = false) const {
    core::RunContext context(2, 7);
    EvaluationInput input{.rows = rows, .models = {}, .nuisance = x.outcomes()};
    input.models = {{.name = "x", .prediction = x.outcomes()}, {.name = "y", .prediction = y.outcomes()}};
    if (swapped) std::swap(input.models[0], input.models[1]);
    input.arm_means = kMeans;
    input.rule = rule;
    return evaluate(input, options, context);
  }
  // Eq. 16, doubly robust, by hand.
  Expected value_of(const std::vector<std::uint8_t>& plan) const {
    Expected sum{0.0, 0.0};
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const std::size_t arm = plan[row];
      const double weight = rows.arm[row] == arm ? rows.weight[row] : 0.0;
      const auto revenue = static_cast<double>(x.revenue(row, arm));
      const auto cost = static_cast<double>(x.cost(row, arm));
      sum.revenue += revenue + weight * (static_cast<double>(rows.revenue[row]) - revenue);
      sum.cost += cost + weight * (static_cast<double>(rows.cost[row]) - cost);
    }
    const auto count = static_cast<double>(rows.size());
    return {sum.revenue / count, sum.cost / count};
  }
};

// One model, judged with its own predictions or others as the nuisance.
Evaluation judge_one(const TrialRows& rows, const Predicted& prediction, const Predicted& nuisance,
                     const EvaluationOptions& options, const std::vector<double>& price = {}) {
  core::RunContext context(1, 1);
  EvaluationInput input{.rows = rows, .models = {}};
  JudgedModel model;
  model.name = "one";
  model.prediction = prediction.outcomes();
  model.price = price;
  input.models.push_back(model);
  input.nuisance = nuisance.outcomes();
  input.arm_means = kMeans;
  return evaluate(input, options, context);
}

const BaselineFigures& baseline(const Evaluation& evaluation, const std::string& kind) {
  for (const BaselineFigures& one : evaluation.baselines) {
    if (one.kind == kind) return one;
  }
  throw std::runtime_error("no baseline " + kind);
}

const BaselineDifferenceFigures& difference(const Evaluation& evaluation, const std::string& model,
                                            const std::string& kind, std::size_t budget) {
  for (const BaselineDifferenceFigures& one : evaluation.baseline_differences) {
    if (one.model == model && one.baseline == kind && one.budget_per_unit == evaluation.budgets_per_unit[budget])
      return one;
  }
  throw std::runtime_error("no difference");
}

TEST(Baselines, RandomIsThePathOfTheMeanEffectsOnUnitsThatAreDrawn) {
  const Made made(3);
  const Evaluation evaluation = made.judge(small_options());
  const BaselineFigures& random = baseline(evaluation, "random");
  EXPECT_NEAR(random.plans[0].share_per_arm[1], 0.4, 1e-3);
  EXPECT_NEAR(random.plans[0].share_per_arm[2], 0.0, 1e-12);
  EXPECT_NEAR(random.plans[1].share_per_arm[1], 0.5, 1e-3);
  EXPECT_NEAR(random.plans[1].share_per_arm[2], 0.5, 1e-3);
  EXPECT_NEAR(random.plans[1].predicted_cost, 1.5, 1e-3);
  EXPECT_EQ(random.names[0], "arm '1' for a random 40 % of the units");
  EXPECT_EQ(random.curve.size(), 5u);
  // What it earns, on average over all draws, is a mix of the arms for everyone.
  const std::size_t size = made.rows.size();
  const Expected control = made.value_of(std::vector<std::uint8_t>(size, 0));
  const Expected first = made.value_of(std::vector<std::uint8_t>(size, 1));
  const double share = random.plans[0].share_per_arm[1];
  EXPECT_NEAR(random.plans[0].revenue.value, (1.0 - share) * control.revenue + share * first.revenue, 1e-12);
  EXPECT_NEAR(random.plans[0].cost.value, (1.0 - share) * control.cost + share * first.cost, 1e-12);
  // The price of money is what one more unit of it would earn, also behind the end of the path.
  EXPECT_NEAR(difference(evaluation, "x", "random", 0).price, 1.0, 1e-6);
  EXPECT_NEAR(difference(evaluation, "x", "random", 1).price, 0.2, 1e-6);
  EvaluationOptions rich = small_options();
  rich.budgets_per_unit = {9.0};
  const Evaluation behind = made.judge(rich);
  EXPECT_NEAR(difference(behind, "x", "random", 0).price, 0.2, 1e-6);
  EXPECT_EQ(baseline(behind, "random").plans[0].share_per_arm[2], 1.0);
  // Money that must earn more to pay back has a higher price.
  rich.value_per_revenue = 2.0;
  EXPECT_NEAR(difference(made.judge(rich), "x", "random", 0).price, 0.5, 1e-12);
}

// Limits on who may get what ask for one draw, here limits that forbid nothing: the same plan in expectation.
TEST(Baselines, RandomOnAverageIsSurerThanOneDraw) {
  const Made made(21, {.num_units = 4000});
  core::RunContext context(2, 7);
  core::Matrix<std::uint8_t> all_may(made.rows.size(), kSmallArms);
  for (std::size_t row = 0; row < made.rows.size(); ++row) std::fill_n(all_may.row(row).begin(), kSmallArms, 1);
  const auto over_random = [&](bool limited, bool analytic) {
    EvaluationInput input{.rows = made.rows, .models = {}, .nuisance = made.x.outcomes()};
    input.models = {{.name = "x", .prediction = made.x.outcomes()}};
    input.arm_means = kMeans;
    if (limited) input.eligible = std::as_const(all_may).view();
    EvaluationOptions options = small_options();
    options.num_resamples = 400;
    options.analytic = analytic;
    return difference(evaluate(input, options, context), "x", "random", 0).net;
  };
  for (const bool analytic : {false, true}) {
    const Interval drawn = over_random(true, analytic);
    const Interval mean = over_random(false, analytic);
    const double deviation = (drawn.high - drawn.low) / 4.0;
    EXPECT_NE(drawn.value, mean.value);
    EXPECT_NEAR(drawn.value, mean.value, 3.0 * deviation);
    // Where a plan and a draw give an arm to the same share p, they differ in 2 p (1 - p) of the units: half of the
    // variance is the draw's.
    EXPECT_LT(mean.high - mean.low, 0.85 * (drawn.high - drawn.low)) << (analytic ? "analytic" : "resampled");
  }
}

TEST(Baselines, TheBestSingleArmIsThatOfThePriceAndItsValueIsThatByHand) {
  const Made made(4);
  const Evaluation evaluation = made.judge(small_options());
  const BaselineFigures& single = baseline(evaluation, "single_arm");
  EXPECT_EQ(single.names[0], "arm '1' for everyone");
  const Expected first = made.value_of(std::vector<std::uint8_t>(made.rows.size(), 1));
  EXPECT_NEAR(single.plans[0].revenue.value, first.revenue, 1e-12);
  EXPECT_NEAR(single.plans[0].cost.value, first.cost, 1e-12);
  const BaselineFigures& control = baseline(evaluation, "control");
  EXPECT_EQ(control.plans[0].incremental_revenue.value, 0.0);
  EXPECT_EQ(control.plans[0].incremental_revenue.high, 0.0);
  EXPECT_EQ(control.plans[0].incremental_cost.value, 0.0);
}

TEST(Baselines, TodaysRuleIsJudgedAsItStands) {
  const Made made(5);
  std::vector<std::uint8_t> rule;
  for (std::size_t row = 0; row < made.rows.size(); ++row)
    rule.push_back(static_cast<std::uint8_t>(core::mix_bits(row) % kSmallArms));
  const Evaluation evaluation = made.judge(small_options(), rule);
  const Expected expected = made.value_of(rule);
  for (const JudgedPlan& plan : baseline(evaluation, "rule").plans) {
    EXPECT_NEAR(plan.revenue.value, expected.revenue, 1e-12);
    EXPECT_NEAR(plan.cost.value, expected.cost, 1e-12);
  }
  EXPECT_EQ(evaluation.baselines.size(), 4u);
  EXPECT_EQ(evaluation.baseline_differences.size(), 2u * 4u * 2u);
  EXPECT_EQ(made.judge(small_options()).baselines.size(), 3u);
}

TEST(Baselines, DifferencesChargeTheDifferenceInSpendAtOnePrice) {
  const Made made(6);
  EvaluationOptions options = small_options();
  options.value_per_revenue = 0.8;
  const Evaluation evaluation = made.judge(options);
  for (const ModelFigures& model : evaluation.models) {
    for (std::size_t budget = 0; budget < 2; ++budget) {
      const JudgedPlan& plan = model.deployed[budget];
      const JudgedPlan& other = baseline(evaluation, "random").plans[budget];
      const BaselineDifferenceFigures& over = difference(evaluation, model.name, "random", budget);
      const double revenue = plan.revenue.value - other.revenue.value;
      const double cost = plan.cost.value - other.cost.value;
      EXPECT_NEAR(over.net.value, revenue - over.price * cost, 1e-12);
      EXPECT_NEAR(over.revenue.value, revenue, 1e-12);
      EXPECT_NEAR(over.cost.value, cost, 1e-12);
      EXPECT_NEAR(over.profit->value, 0.8 * revenue - cost, 1e-12);
      EXPECT_GE(over.price, 1.0 / 0.8);
      EXPECT_LE(over.simultaneous_low, over.net.low);
      EXPECT_GE(over.simultaneous_high, over.net.high);
      EXPECT_NEAR(plan.incremental_profit->value, 0.8 * plan.incremental_revenue.value - plan.incremental_cost.value,
                  1e-12);
      EXPECT_NEAR(plan.roi->value, plan.incremental_profit->value / plan.incremental_cost.value, 1e-9);
      EXPECT_LE(plan.simultaneous_profit->low, plan.incremental_profit->low);
    }
  }
}

TEST(Baselines, AnalyticIntervalsAgreeWithThoseByResampling) {
  const Made made(8, {.num_units = 4000});
  EvaluationOptions options = small_options();
  options.value_per_revenue = 1.2;
  options.num_resamples = 800;
  const Evaluation resampled = made.judge(options);
  options.analytic = true;
  const Evaluation analytic = made.judge(options);
  const auto width = [](const Interval& interval) { return interval.high - interval.low; };
  for (std::size_t i = 0; i < resampled.baseline_differences.size(); ++i) {
    const BaselineDifferenceFigures& one = resampled.baseline_differences[i];
    const BaselineDifferenceFigures& other = analytic.baseline_differences[i];
    EXPECT_NEAR(one.net.value, other.net.value, 1e-9) << one.baseline;
    EXPECT_NEAR(width(other.net) / width(one.net), 1.0, 0.1) << one.baseline;
    EXPECT_NEAR(width(*other.profit) / width(*one.profit), 1.0, 0.1) << one.baseline;
  }
  for (std::size_t budget = 0; budget < 2; ++budget) {
    EXPECT_NEAR(width(*analytic.models[0].deployed[budget].incremental_profit) /
                    width(*resampled.models[0].deployed[budget].incremental_profit),
                1.0, 0.1);
  }
}

TEST(Baselines, TheOrderOfTheModelsChangesNothingButTheOrder) {
  const Made made(9);
  EvaluationOptions options = small_options();
  options.value_per_revenue = 1.0;
  const Evaluation one = made.judge(options);
  const Evaluation other = made.judge(options, {}, true);
  EXPECT_EQ(one.verdict.sentence, other.verdict.sentence);
  EXPECT_EQ(one.verdict.status, other.verdict.status);
  for (std::size_t model = 0; model < 2; ++model) {
    for (std::size_t budget = 0; budget < 2; ++budget) {
      const JudgedPlan& a = one.models[model].deployed[budget];
      const JudgedPlan& b = other.models[1 - model].deployed[budget];
      EXPECT_EQ(a.simultaneous_profit->low, b.simultaneous_profit->low);
      EXPECT_EQ(a.revenue.high, b.revenue.high);
      EXPECT_EQ(difference(one, one.models[model].name, "random", budget).sentence,
                difference(other, one.models[model].name, "random", budget).sentence);
    }
  }
}

// A model that gives nobody anything is everyone in control, exactly.
TEST(Facts, FiguresBelowThePrecisionOfTheirSumAreZero) {
  const Made made(10);
  const Predicted nothing = predict(made.small.x, made.small.y, [](double x, double y, std::size_t arm) -> Expected {
    return {1.0 + x + y - static_cast<double>(arm), 0.3 * static_cast<double>(arm)};
  });
  const Evaluation evaluation = judge_one(made.rows, nothing, made.x, small_options());
  const JudgedPlan& plan = evaluation.models[0].deployed[0];
  EXPECT_EQ(plan.incremental_revenue.value, 0.0);
  EXPECT_EQ(plan.incremental_cost.value, 0.0);
  EXPECT_EQ(plan.simultaneous_increment.low, 0.0);
  EXPECT_EQ(plan.simultaneous_increment.high, 0.0);
  EXPECT_TRUE(std::isnan(plan.return_per_cost.value));
  EXPECT_EQ(plan.note, "A return is not defined: the plan costs no more than control.");
  EXPECT_EQ(plan.pays_back, "not_shown");
}

// Arm 1 both earns and costs less than control: a quotient of two negatives is no return.
TEST(Facts, AReturnOfANegativeOverANegativeIsNotDefined) {
  SmallTrial small = small_trial(11, {.num_units = 1000});
  small.trial.cost_facts = {data::CostKind::price, {1.0, 0.2, 3.0}};
  for (std::size_t unit = 0; unit < small.x.size(); ++unit) {
    small.trial.cost[unit] = static_cast<float>(small.trial.cost_facts.per_arm[small.trial.arm[unit]]);
    if (small.trial.arm[unit] == 1) small.trial.revenue[unit] -= 2.0f;
  }
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const Predicted cheap = predict(small.x, small.y, [](double, double, std::size_t arm) -> Expected {
    return {arm == 1 ? 2.0 : 1.0, arm == 0 ? 1.0 : arm == 1 ? 0.2 : 3.0};
  });
  EvaluationOptions options = small_options();
  options.value_per_revenue = 0.5;
  const Evaluation evaluation = judge_one(rows, cheap, cheap, options, small.trial.cost_facts.per_arm);
  const JudgedPlan& plan = evaluation.models[0].deployed[0];
  EXPECT_EQ(plan.share_per_arm[1], 1.0);
  EXPECT_LT(plan.incremental_revenue.value, 0.0);
  EXPECT_NEAR(plan.incremental_cost.value, -0.8, 1e-12);
  EXPECT_TRUE(std::isnan(plan.return_per_cost.value));
  EXPECT_TRUE(std::isnan(plan.roi->value));
  EXPECT_EQ(plan.note, "A return is not defined: the plan both earns and costs less than control.");
  EXPECT_NEAR(plan.incremental_profit->value, 0.5 * plan.incremental_revenue.value + 0.8, 1e-12);
}

TEST(Facts, IntervalsOfCostKeepToWhatTheStudyStates) {
  SmallTrial small = small_trial(12, {.num_units = 300});
  // Control is free; one treated unit in a hundred costs something, so the interval of a small plan's cost would reach
  // below zero.
  for (std::size_t unit = 0; unit < small.x.size(); ++unit)
    small.trial.cost[unit] = small.trial.arm[unit] > 0 && unit % 100 == 7 ? 50.0f : 0.0f;
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const Predicted some = predict(small.x, small.y, [](double x, double, std::size_t arm) -> Expected {
    return {1.0 + (x > 0.5 ? 0.2 : 0.1) * static_cast<double>(arm), 0.1 + static_cast<double>(arm)};
  });
  EvaluationOptions options = small_options();
  options.budgets_per_unit = {0.2};
  const Evaluation free = judge_one(rows, some, some, options);
  EXPECT_NE(free.control_cost.value, 0.0) << "the nuisance predicts a cost of control";
  EXPECT_LT(free.models[0].deployed[0].cost.low, 0.0);
  options.cost_limits = {true, true, true};
  const Evaluation bound = judge_one(rows, some, some, options);
  EXPECT_EQ(bound.control_cost.value, 0.0);
  EXPECT_EQ(bound.control_cost.high, 0.0);
  const JudgedPlan& plan = bound.models[0].deployed[0];
  EXPECT_EQ(plan.cost.low, 0.0);
  EXPECT_GT(plan.cost.high, 0.0);
  EXPECT_EQ(plan.incremental_cost.low, 0.0);
  EXPECT_TRUE(plan.note.starts_with("The interval of cost ends where [cost] says that costs must.")) << plan.note;
}

// Two treated units that cost something are not given an arm: the doubly robust sum of costs falls below control's,
// which cannot be; profit counts what can.
TEST(Facts, ProfitCountsACostThatIsPossible) {
  SmallTrial small = small_trial(12, {.num_units = 400});
  for (std::size_t unit = 0; unit < small.x.size(); ++unit) small.trial.cost[unit] = 0.0f;
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const Predicted planned = predict(small.x, small.y, [](double x, double, std::size_t arm) -> Expected {
    return {1.0 + (x > 0.5 ? 0.5 : 0.1) * static_cast<double>(arm), 0.1 * static_cast<double>(arm)};
  });
  // A nuisance that predicts gains where there are none: residuals take more off than it promised.
  const Predicted nuisance = predict(small.x, small.y, [](double x, double, std::size_t arm) -> Expected {
    return {1.0, arm == 0 ? 0.0 : x > 0.5 ? -0.2 : 0.2};
  });
  EvaluationOptions options = small_options();
  options.budgets_per_unit = {0.05};
  options.value_per_revenue = 0.5;
  const JudgedPlan as_estimated = judge_one(rows, planned, nuisance, options).models[0].deployed[0];
  ASSERT_NE(as_estimated.incremental_cost.value, 0.0);
  options.cost_limits = {true, true, false};
  const JudgedPlan plan = judge_one(rows, planned, nuisance, options).models[0].deployed[0];
  EXPECT_EQ(plan.incremental_cost.value, std::max(0.0, as_estimated.incremental_cost.value));
  EXPECT_NEAR(plan.incremental_profit->value, 0.5 * plan.incremental_revenue.value - plan.incremental_cost.value,
              1e-12);
  const Predicted dear = predict(small.x, small.y, [](double x, double, std::size_t arm) -> Expected {
    return {1.0, arm == 0 ? 0.0 : x > 0.5 ? 0.2 : -0.2};
  });
  const JudgedPlan other = judge_one(rows, planned, dear, options).models[0].deployed[0];
  // One of the two nuisances errs below zero; no plan is said to save what control does not cost.
  EXPECT_EQ(std::min(plan.incremental_cost.value, other.incremental_cost.value), 0.0);
}

// Units of control that cost something by mistake cost nothing where the study says that control is free.
TEST(Facts, AFreeControlIsFreeForEveryEstimator) {
  SmallTrial small = small_trial(13, {.num_units = 600});
  for (std::size_t unit = 0; unit < small.x.size(); ++unit) {
    if (small.trial.arm[unit] == 0) small.trial.cost[unit] = 7.0f;
  }
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const Predicted model = predict(small.x, small.y, sees_x);
  for (const Estimator estimator :
       {Estimator::horvitz_thompson, Estimator::hajek, Estimator::stratified, Estimator::doubly_robust}) {
    EvaluationOptions options = small_options();
    options.estimator = estimator;
    const Evaluation costly = judge_one(rows, model, model, options);
    EXPECT_GT(costly.control_cost.value, 3.0);
    options.cost_limits = {true, true, false};
    const Evaluation free = judge_one(rows, model, model, options);
    EXPECT_EQ(free.control_cost.value, 0.0);
    EXPECT_EQ(free.control_cost.high, 0.0);
    const JudgedPlan& plan = free.models[0].deployed[0];
    EXPECT_GT(plan.incremental_cost.value, 0.0) << to_text(estimator);
    EXPECT_EQ(plan.incremental_cost.value, plan.cost.value) << to_text(estimator);
  }
}

TEST(ArmMeansOfTrial, LeaveTheEvaluatedRowsOut) {
  core::RunContext context(2);
  SmallTrial small = small_trial(13, {.num_units = 500});
  for (std::size_t unit = 0; unit < 500; ++unit) {
    const bool tests = unit % 2 == 0;
    small.trial.split[unit] = tests ? data::Split::test : data::Split::train;
    small.trial.revenue[unit] = tests ? 100.0f : 1.0f + static_cast<float>(small.trial.arm[unit]);
    small.trial.cost[unit] = tests ? 100.0f : static_cast<float>(small.trial.arm[unit]);
  }
  const ArmMeans means = arm_means(small.trial, data::Split::test, context);
  EXPECT_TRUE(means.from_other_rows);
  for (std::size_t arm = 0; arm < kSmallArms; ++arm) {
    EXPECT_NEAR(means.revenue[arm], 1.0 + static_cast<double>(arm), 1e-9);
    EXPECT_NEAR(means.cost[arm], static_cast<double>(arm), 1e-9);
  }
  EXPECT_FALSE(arm_means(small.trial, std::nullopt, context).from_other_rows);
}

}  // namespace
}  // namespace dfcl::evaluate
