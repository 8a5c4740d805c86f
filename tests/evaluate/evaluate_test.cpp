// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "dfcl/core/error.h"
#include "dfcl/evaluate/areas/areas.h"
#include "dfcl/evaluate/curves/setting.h"
#include "dfcl/evaluate/effects/differences.h"
#include "dfcl/evaluate/estimators/influence.h"
#include "dfcl/evaluate/estimators/join.h"
#include "small_trials.h"

namespace dfcl::evaluate {
namespace {

EvaluationOptions usual_options() {
  EvaluationOptions options;
  options.budgets_per_unit = {0.5, 0.2};  // not in rising order
  options.num_resamples = 100;
  options.num_levels = 20;
  return options;
}

struct Made {
  SmallTrial small;
  TrialRows rows;
  Predicted a, b;
};

Made make(std::uint64_t seed, const SmallTrialOptions& options = {}) {
  Made made{small_trial(seed, options), {}, {}, {}};
  made.rows = rows_of(made.small.trial, std::nullopt);
  made.a = predict(made.small.x, made.small.y, sees_x);
  made.b = predict(made.small.x, made.small.y, sees_y);
  return made;
}

EvaluationInput input_of(const Made& made, const Predicted& second) {
  return {.rows = made.rows,
          .models = {{.name = "a", .prediction = made.a.outcomes()}, {.name = "b", .prediction = second.outcomes()}},
          .nuisance = made.a.outcomes(),
          .reference = 0};
}

TEST(Evaluate, AModelComparedWithItselfShowsExactlyZero) {
  const Made made = make(1);
  for (const bool analytic : {false, true}) {
    EvaluationOptions options = usual_options();
    options.analytic = analytic;
    core::RunContext context(2, 3);
    const Evaluation evaluation = evaluate(input_of(made, made.a), options, context);
    ASSERT_EQ(evaluation.differences.size(), 2u);
    for (const DifferenceFigures& difference : evaluation.differences) {
      EXPECT_EQ(difference.revenue.value, 0.0);
      EXPECT_EQ(difference.revenue.low, 0.0);
      EXPECT_EQ(difference.revenue.high, 0.0);
      EXPECT_EQ(difference.simultaneous_low, 0.0);
      EXPECT_EQ(difference.simultaneous_high, 0.0);
      EXPECT_EQ(difference.cost.value, 0.0);
      EXPECT_EQ(difference.p_value, 1.0);
      EXPECT_EQ(difference.sentence, "b and a earn exactly the same at this budget.");
    }
    for (const AuccDifferenceFigures& difference : evaluation.aucc_differences) {
      EXPECT_EQ(difference.published.value, 0.0);
      EXPECT_EQ(difference.area.value, 0.0);
    }
  }
}

TEST(Evaluate, DeployedPlansDoNotLookAtOutcomes) {
  const Made made = make(2);
  Made changed = make(2);
  for (std::size_t row = 0; row < changed.rows.size(); ++row) {
    changed.rows.revenue[row] = static_cast<float>(row % 7);
    changed.rows.cost[row] = static_cast<float>(row % 5);
  }
  core::RunContext context(1);
  const Evaluation one = evaluate(input_of(made, made.b), usual_options(), context);
  const Evaluation two = evaluate(input_of(changed, changed.b), usual_options(), context);
  for (std::size_t model = 0; model < 2; ++model) {
    for (std::size_t budget = 0; budget < 2; ++budget) {
      const JudgedPlan& plan = one.models[model].deployed[budget];
      const JudgedPlan& other = two.models[model].deployed[budget];
      EXPECT_EQ(plan.multiplier, other.multiplier);
      EXPECT_EQ(plan.share_per_arm, other.share_per_arm);
      EXPECT_EQ(plan.predicted_cost, other.predicted_cost);
      EXPECT_NE(plan.revenue.value, other.revenue.value);
      EXPECT_NE(one.models[model].matched[budget].multiplier, two.models[model].matched[budget].multiplier);
    }
  }
}

TEST(Evaluate, FiguresStandInTheOrderOfTheBudgetsAsGiven) {
  const Made made = make(3);
  core::RunContext context(1);
  const Evaluation evaluation = evaluate(input_of(made, made.b), usual_options(), context);
  for (const ModelFigures& model : evaluation.models) {
    EXPECT_EQ(model.deployed[0].budget_per_unit, 0.5);
    EXPECT_EQ(model.deployed[1].budget_per_unit, 0.2);
    EXPECT_EQ(model.matched[1].budget_per_unit, 0.2);
    EXPECT_GT(model.deployed[0].predicted_cost, model.deployed[1].predicted_cost);
    EXPECT_LE(model.deployed[0].predicted_cost, 0.5);
    EXPECT_GT(model.deployed[0].predicted_cost, 0.49);
  }
  EXPECT_EQ(evaluation.differences[0].budget_per_unit, 0.5);
  EXPECT_EQ(evaluation.differences[1].budget_per_unit, 0.2);
}

TEST(Evaluate, RefusesAnArmWhoseUnitsAreOneCluster) {
  SmallTrial made = small_trial(1, {.num_units = 200, .units_per_cluster = 2});
  const std::uint32_t apart = static_cast<std::uint32_t>(made.trial.num_clusters++);
  EXPECT_NO_THROW((void)rows_of(made.trial, data::Split::test));
  for (std::size_t unit = 0; unit < 200; ++unit) {
    if (made.trial.arm[unit] == 2) made.trial.cluster[unit] = apart;
  }
  try {
    (void)rows_of(made.trial, data::Split::test);
    FAIL() << "its intervals would have no width";
  } catch (const core::Error& error) {
    EXPECT_NE(std::string(error.what()).find("all units of arm '2' in the test split are one cluster"),
              std::string::npos)
        << error.what();
  }
}

TEST(Evaluate, IsTheSameForAnyNumberOfThreads) {
  const Made made = make(4, {.num_units = 5000, .units_per_cluster = 2});
  std::vector<Evaluation> results;
  for (const int threads : {1, 2, 8}) {
    core::RunContext context(threads, 7);
    results.push_back(evaluate(input_of(made, made.b), usual_options(), context));
  }
  for (std::size_t i = 1; i < results.size(); ++i) {
    for (std::size_t model = 0; model < 2; ++model) {
      const ModelFigures& first = results[0].models[model];
      const ModelFigures& other = results[i].models[model];
      for (std::size_t k = 0; k < first.curve.size(); ++k) {
        EXPECT_EQ(first.curve[k].revenue.low, other.curve[k].revenue.low);
        EXPECT_EQ(first.curve[k].cost.high, other.curve[k].cost.high);
      }
      EXPECT_EQ(first.aucc[0].unnormalised_area.low, other.aucc[0].unnormalised_area.low);
      EXPECT_EQ(first.qini[1].qini.high, other.qini[1].qini.high);
      EXPECT_EQ(first.fit->revenue.mse, other.fit->revenue.mse);
    }
    EXPECT_EQ(results[0].differences[0].simultaneous_high, results[i].differences[0].simultaneous_high);
  }
}

TEST(Evaluate, ResamplingAndInfluenceFunctionsAgree) {
  for (const bool clusters : {false, true}) {
    for (const Estimator estimator :
         {Estimator::horvitz_thompson, Estimator::hajek, Estimator::stratified, Estimator::doubly_robust}) {
      const Made made = make(5, {.num_units = 3000, .units_per_cluster = clusters ? std::size_t{5} : std::size_t{1}});
      EvaluationOptions options = usual_options();
      options.estimator = estimator;
      options.num_resamples = 1600;
      options.areas = false;
      options.num_curve_points = 3;
      core::RunContext context(2, 1);
      const Evaluation bootstrap = evaluate(input_of(made, made.b), options, context);
      options.analytic = true;
      const Evaluation analytic = evaluate(input_of(made, made.b), options, context);
      const auto expect_close = [&](const Interval& one, const Interval& two, const char* figure) {
        EXPECT_EQ(one.value, two.value) << figure;
        EXPECT_NEAR((one.high - one.low) / (two.high - two.low), 1.0, 0.08) << figure << " " << to_text(estimator);
      };
      for (std::size_t budget = 0; budget < 2; ++budget) {
        const JudgedPlan& one = bootstrap.models[1].deployed[budget];
        const JudgedPlan& two = analytic.models[1].deployed[budget];
        expect_close(one.revenue, two.revenue, "revenue");
        expect_close(one.cost, two.cost, "cost");
        expect_close(one.incremental_revenue, two.incremental_revenue, "increment");
        expect_close(one.return_per_cost, two.return_per_cost, "return");
        expect_close(bootstrap.differences[budget].revenue, analytic.differences[budget].revenue, "difference");
        expect_close(bootstrap.differences[budget].relative, analytic.differences[budget].relative, "relative");
      }
      expect_close(bootstrap.control_revenue, analytic.control_revenue, "control");
    }
  }
}

// Beside the doubly robust figures stand those that an evaluation by Hajek alone would give.
TEST(Evaluate, HajekStandsBesideTheDoublyRobustFigures) {
  for (const SmallTrialOptions& small :
       {SmallTrialOptions{}, SmallTrialOptions{.units_per_cluster = 3, .propensities = true}}) {
    const Made made = make(4, small);
    EvaluationOptions options = usual_options();
    core::RunContext context(2, 3);
    const Evaluation robust = evaluate(input_of(made, made.b), options, context);
    options.estimator = Estimator::hajek;
    options.analytic = true;
    const Evaluation hajek = evaluate(input_of(made, made.b), options, context);
    for (std::size_t model = 0; model < 2; ++model) {
      for (std::size_t budget = 0; budget < 2; ++budget) {
        const JudgedPlan& plan = robust.models[model].deployed[budget];
        const JudgedPlan& alone = hajek.models[model].deployed[budget];
        ASSERT_TRUE(plan.hajek_incremental_revenue.has_value());
        EXPECT_FALSE(alone.hajek_incremental_revenue.has_value());
        EXPECT_NEAR(plan.hajek_incremental_revenue->value, alone.incremental_revenue.value, 1e-9);
        EXPECT_NEAR(plan.hajek_incremental_revenue->low, alone.incremental_revenue.low, 1e-9);
        EXPECT_NEAR(plan.hajek_incremental_cost->value, alone.incremental_cost.value, 1e-9);
        EXPECT_NEAR(plan.hajek_incremental_cost->high, alone.incremental_cost.high, 1e-9);
      }
    }
  }
}

// Everyone of an arm earns and costs the same: no chance is left, and both estimators give the one answer.
TEST(Evaluate, HajekAndDoublyRobustAgreeWhereTheAnswerIsKnown) {
  Made made = make(5);
  for (std::size_t row = 0; row < made.rows.size(); ++row) {
    made.rows.revenue[row] = 1.0f + 2.0f * static_cast<float>(made.rows.arm[row]);
    made.rows.cost[row] = 0.25f * static_cast<float>(made.rows.arm[row]);
    for (std::size_t arm = 0; arm < kSmallArms; ++arm) {
      made.a.revenue(row, arm) = 1.0f + 2.0f * static_cast<float>(arm);
      made.a.cost(row, arm) = 0.25f * static_cast<float>(arm);
    }
  }
  EvaluationOptions options = usual_options();
  options.budgets_per_unit = {0.0, 10.0};  // everyone in control; everyone in the last arm
  core::RunContext context(2, 3);
  const Evaluation evaluation = evaluate(input_of(made, made.a), options, context);
  const std::vector<JudgedPlan>& plans = evaluation.models[0].deployed;
  for (const auto& [plan, gain, cost] : {std::tuple{plans[0], 0.0, 0.0}, std::tuple{plans[1], 4.0, 0.5}}) {
    EXPECT_NEAR(plan.incremental_revenue.value, gain, 1e-9);
    EXPECT_NEAR(plan.hajek_incremental_revenue->value, gain, 1e-9);
    EXPECT_NEAR(plan.hajek_incremental_revenue->low, gain, 1e-6);
    EXPECT_NEAR(plan.incremental_cost.value, cost, 1e-9);
    EXPECT_NEAR(plan.hajek_incremental_cost->value, cost, 1e-9);
  }
}

TEST(Evaluate, TheTruthGetsAllOfTheOracle) {
  const Made made = make(6, {.num_units = 2000});
  const Predicted truth = predict(made.small.x, made.small.y, true_response);
  EvaluationInput input = input_of(made, truth);
  input.truth = truth.outcomes();
  core::RunContext context(1);
  const Evaluation evaluation = evaluate(input, usual_options(), context);
  for (std::size_t budget = 0; budget < 2; ++budget) {
    EXPECT_NEAR(*evaluation.models[1].deployed[budget].share_of_oracle, 1.0, 1e-3);
    EXPECT_LT(*evaluation.models[0].deployed[budget].share_of_oracle, 0.99);
    EXPECT_NEAR(evaluation.oracle->at_budgets[budget].revenue, *evaluation.models[1].deployed[budget].true_revenue,
                1e-2);
  }
}

TEST(Evaluate, SegmentsShareOutWhatTheWholeGets) {
  const Made made = make(7);
  EvaluationInput input = input_of(made, made.b);
  std::vector<std::uint32_t> label;
  for (const double x : made.small.x) label.push_back(x > 0.5 ? 1 : 0);
  input.segments.push_back(segment_column("half", label, {"low", "high"}));
  core::RunContext context(1);
  const Evaluation evaluation = evaluate(input, usual_options(), context);
  const JudgedPlan& plan = evaluation.models[0].deployed[0];
  const SegmentFigures& half = evaluation.models[0].segments.at(0);
  ASSERT_EQ(half.values.size(), 2u);
  double cost = 0.0;
  double revenue = 0.0;
  double share = 0.0;
  for (const SegmentValue& value : half.values) {
    const double weight = static_cast<double>(value.num_units) / static_cast<double>(made.rows.size());
    cost += weight * value.cost_per_unit[0];
    revenue += weight * value.revenue_per_unit[0];
    share += weight * value.share_per_arm[0][2];
  }
  EXPECT_NEAR(cost, plan.cost.value, 1e-12);
  EXPECT_NEAR(revenue, plan.revenue.value, 1e-12);
  EXPECT_NEAR(share, plan.share_per_arm[2], 1e-12);
  EXPECT_EQ(half.values[0].value, "high");  // in the order of the labels
}

TEST(Evaluate, TheReferenceIsTheBestModelWhateverTheOrder) {
  const Made made = make(11, {.num_units = 4000});
  const Predicted truth = predict(made.small.x, made.small.y, true_response);
  std::vector<JudgedModel> models = {{.name = "x", .prediction = made.a.outcomes()},
                                     {.name = "both", .prediction = truth.outcomes()},
                                     {.name = "y", .prediction = made.b.outcomes()}};
  for (const bool analytic : {false, true}) {
    EvaluationOptions options = usual_options();
    options.analytic = analytic;
    core::RunContext context(2, 3);
    const auto judge = [&](const std::vector<JudgedModel>& given, std::optional<std::size_t> reference) {
      return evaluate({.rows = made.rows, .models = given, .nuisance = made.a.outcomes(), .reference = reference},
                      options, context);
    };
    const Evaluation one = judge(models, std::nullopt);
    const Evaluation other = judge({models[2], models[1], models[0]}, std::nullopt);
    EXPECT_EQ(one.models[one.reference].name, "both");
    EXPECT_EQ(other.models[other.reference].name, "both");
    ASSERT_EQ(one.differences.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
      const DifferenceFigures& mine = one.differences[i];
      const DifferenceFigures& theirs = other.differences[(i + 2) % 4];
      EXPECT_EQ(mine.model, theirs.model);
      EXPECT_EQ(mine.reference, "both");
      EXPECT_EQ(mine.sentence, theirs.sentence);
      EXPECT_EQ(mine.revenue.low, theirs.revenue.low);
      EXPECT_EQ(mine.simultaneous_low, theirs.simultaneous_low);
    }
    // Named beforehand, it burdens fewer pairs.
    const Evaluation named = judge(models, 1);
    EXPECT_EQ(named.differences[0].revenue.low, one.differences[0].revenue.low);
    EXPECT_GE(named.differences[0].simultaneous_low, one.differences[0].simultaneous_low);
  }
}

TEST(Evaluate, AlternativesDoNotWidenWhatIsSaidOfMethods) {
  const Made made = make(10);
  for (const bool analytic : {false, true}) {
    EvaluationOptions options = usual_options();
    options.analytic = analytic;
    core::RunContext context(2, 3);
    const Evaluation two = evaluate(input_of(made, made.b), options, context);
    EvaluationInput input = input_of(made, made.b);
    for (const char* name : {"b alpha=1", "b alpha=2"})
      input.models.push_back({.name = name, .prediction = made.b.outcomes(), .is_alternative = true});
    const Evaluation swept = evaluate(input, options, context);
    const auto low_end = [](const Evaluation& evaluation, std::size_t model) {
      return evaluation.models[model].deployed[0].simultaneous_increment.low;
    };
    EXPECT_EQ(low_end(swept, 0), low_end(two, 0));
    EXPECT_EQ(low_end(swept, 1), low_end(two, 1));
    EXPECT_LE(low_end(swept, 2), low_end(two, 1)) << "they count all";
    for (std::size_t budget = 0; budget < 2; ++budget)
      EXPECT_EQ(swept.differences[budget].simultaneous_low, two.differences[budget].simultaneous_low);
    EXPECT_LE(swept.differences[2].simultaneous_low, swept.differences[0].simultaneous_low) << "they count all";
    EXPECT_EQ(swept.verdict.sentence, two.verdict.sentence);
  }
}

// A difference in areas of which 2 % of the resamples lie below zero: shown alone, not among six comparisons.
TEST(Evaluate, AreasAreComparedWithAllComparisonsCounted) {
  const SmallTrial small = small_trial(31, {.num_units = 200});
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const Predicted model = predict(small.x, small.y, sees_x);
  core::RunContext context(1);
  EvaluationOptions options;
  options.budgets_per_unit = {0.3};
  options.num_resamples = 1000;
  const auto sentence = [&](std::size_t num_models, std::optional<std::size_t> reference) {
    EvaluationInput input{.rows = rows, .models = {}};
    input.nuisance = model.outcomes();
    input.reference = reference;
    std::vector<std::vector<ArmAreas>> areas;
    for (std::size_t i = 0; i < num_models; ++i) {
      input.models.push_back({.name = "m" + std::to_string(i), .prediction = model.outcomes()});
      ArmAreas own;
      own.arm = 1;
      own.aucc.area = i == 0 ? 0.5 : 0.7;
      own.totals_away_from_zero = true;
      for (std::size_t k = 0; k < 1000; ++k) {
        own.area.push_back(i == 0 ? 0.5 : 0.492 + 0.4 * static_cast<double>(k) / 999.0);
        own.published.push_back(own.area.back());
      }
      areas.push_back({own});
    }
    const Setting setting(input, options, context);
    return aucc_differences(setting, areas, 0).front().sentence;
  };
  EXPECT_NE(sentence(2, 0).find("m1 ranks better than m0"), std::string::npos) << sentence(2, 0);
  EXPECT_NE(sentence(7, 0).find("can be shown for arm '1', once all comparisons are counted."), std::string::npos)
      << sentence(7, 0);
  // A reference that was chosen by its estimates stands for all pairs: three models make three.
  EXPECT_NE(sentence(2, std::nullopt).find("ranks better"), std::string::npos);
  EXPECT_NE(sentence(3, std::nullopt).find("once all comparisons are counted"), std::string::npos);
}

TEST(Evaluate, AnUnfitTrialNeverSaysLaunch) {
  const Made made = make(8, {.num_units = 4000});
  core::RunContext context(1);
  EvaluationOptions options = usual_options();
  EXPECT_EQ(evaluate(input_of(made, made.b), options, context).verdict.status, "gain_shown");
  options.unfit_because = "arms are unbalanced";
  EXPECT_EQ(evaluate(input_of(made, made.b), options, context).verdict.status, "unfit");
}

TEST(Evaluate, ManyValuesOfASegmentAreGrouped) {
  std::vector<std::uint32_t> label;
  std::vector<std::string> numbers, words;
  for (std::uint32_t i = 0; i < 100; ++i) {
    label.push_back(i);
    numbers.push_back(std::to_string(i));
    words.push_back("w" + std::to_string(i));
  }
  EXPECT_EQ(segment_column("n", label, numbers).values.size(), 4u);
  const SegmentColumn named = segment_column("w", label, words);
  EXPECT_EQ(named.values.size(), 20u);
  EXPECT_EQ(named.values.back(), "(other)");
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

TEST(TrialRows, SayWhatIsWrongWithASplit) {
  SmallTrial small = small_trial(9, {.num_units = 50});
  EXPECT_NE(message_of([&] { (void)rows_of(small.trial, data::Split::train); }).find("the train split is empty"),
            std::string::npos);
  SmallTrial again = small_trial(9, {.num_units = 50});
  data::Trial& one_unit = again.trial;
  for (std::size_t row = 0, seen = 0; row < 50; ++row) {
    if (one_unit.arm[row] == 2 && seen++ > 0) one_unit.arm[row] = 1;
  }
  EXPECT_NE(message_of([&] { (void)rows_of(one_unit, std::nullopt); }).find("arm '2' has one unit"), std::string::npos);
  for (std::uint8_t& arm : one_unit.arm) arm = std::min<std::uint8_t>(arm, 1);
  EXPECT_NE(message_of([&] { (void)rows_of(one_unit, std::nullopt); }).find("no unit of arm '2'"), std::string::npos);
  std::fill(small.trial.revenue.begin(), small.trial.revenue.end(), 0.0f);
  EXPECT_NE(message_of([&] { (void)rows_of(small.trial, std::nullopt); }).find("earned anything"), std::string::npos);
}

TEST(Join, PutsRowsAndArmsInTheOrderOfTheTrial) {
  const Made made = make(10, {.num_units = 60});
  data::Prediction prediction;
  prediction.arms.labels = {"2", "0", "extra", "1"};
  std::vector<std::int64_t> ids;
  prediction.revenue = core::Matrix<float>(60, 4);
  prediction.cost = core::Matrix<float>(60, 4);
  for (std::size_t row = 0; row < 60; ++row) {
    ids.push_back(static_cast<std::int64_t>(60 - row));
    for (std::size_t column = 0; column < 4; ++column) {
      prediction.revenue(row, column) = static_cast<float>(100 * (60 - row) + column);
      prediction.cost(row, column) = static_cast<float>(column);
    }
  }
  prediction.ids = ids;
  const JoinedPrediction joined = join_prediction(prediction, made.rows, made.small.trial.ids, "p.csv");
  EXPECT_EQ(joined.revenue(0, 0), 101.0f);
  EXPECT_EQ(joined.revenue(0, 2), 100.0f);
  EXPECT_EQ(joined.revenue(59, 1), 6003.0f);
  ids[3] = 1000;
  ids[4] = 1001;
  prediction.ids = ids;
  const std::string message =
      message_of([&] { (void)join_prediction(prediction, made.rows, made.small.trial.ids, "p.csv"); });
  EXPECT_NE(message.find("2 of 60 units are not there"), std::string::npos) << message;
  EXPECT_NE(message.find("2 of the 60 rows given are no unit of the trial"), std::string::npos) << message;
  prediction.arms.labels[3] = "one";
  EXPECT_NE(message_of([&] {
              (void)join_prediction(prediction, made.rows, made.small.trial.ids, "p.csv");
            }).find("no prediction for arm '1'"),
            std::string::npos);
}

TEST(Join, RowNumbersAreNotJoinedWithIds) {
  Made made = make(10, {.num_units = 60});
  data::Prediction prediction;
  prediction.arms.labels = {"0", "1", "2"};
  prediction.ids = data::RowNumbers{1, 60};
  prediction.revenue = core::Matrix<float>(60, 3);
  prediction.cost = core::Matrix<float>(60, 3);
  const auto join = [&](const data::Ids& trial_ids) {
    return message_of([&] { (void)join_prediction(prediction, made.rows, trial_ids, "p.csv"); });
  };
  EXPECT_EQ(join(data::RowNumbers{1, 60}), "");
  std::vector<std::int64_t> numbers;
  for (std::int64_t row = 1; row <= 60; ++row) numbers.push_back(row);
  EXPECT_EQ(join(data::Ids::of_rows(numbers)), "") << "rows of which some were left out";
  EXPECT_NE(join(data::Ids(numbers)).find("have ids"), std::string::npos);
}

TEST(Join, AnIndexOverAnotherControlIsRefused) {
  const Made made = make(10, {.num_units = 60});
  data::Prediction prediction;
  prediction.arms = {{"0", "1", "2"}, 1, false};
  prediction.ids = made.small.trial.ids;
  prediction.revenue = core::Matrix<float>(60, 3);
  prediction.cost = core::Matrix<float>(60, 3);
  const auto join = [&] {
    return message_of([&] { (void)join_prediction(prediction, made.rows, made.small.trial.ids, "p.csv"); });
  };
  EXPECT_EQ(join(), "") << "outcomes do not depend on the control";
  prediction.is_index = true;
  EXPECT_NE(join().find("another control"), std::string::npos);
  prediction.control_is_guessed = true;
  EXPECT_EQ(join(), "");
}

}  // namespace
}  // namespace dfcl::evaluate
