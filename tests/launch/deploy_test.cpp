// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/deploy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/core/random.h"
#include "dfcl/launch/group_sums.h"
#include "dfcl/launch/spend_controller.h"

namespace dfcl::launch {
namespace {

// Weekly spend over budget where real costs are predicted ones times ratio(day).
template <class Ratio>
std::vector<double> weekly_spend(bool is_on, std::size_t weeks, Ratio&& ratio) {
  SpendController controller(is_on);
  std::vector<double> spend(weeks);
  for (std::size_t day = 0; day < 7 * weeks; ++day) {
    const double planned = controller.target(100.0, day % 7, 7 - day % 7);
    const double spent = planned * ratio(day);
    controller.observe(100.0, day % 7, planned, spent);
    spend[day / 7] += spent / 700.0;
  }
  return spend;
}

TEST(SpendController, KeepsEveryWeekToItsBudgetWhileCostsDriftByAFifth) {
  const auto drift = [](std::size_t day) { return 1.0 + 0.2 * static_cast<double>(day) / 27.0; };
  for (const double week : weekly_spend(true, 4, drift)) EXPECT_NEAR(week, 1.0, 0.01);
  EXPECT_GT(weekly_spend(false, 4, drift)[3], 1.15);
}

TEST(SpendController, MakesUpForAJumpWithinTheWeek) {
  const auto jump = [](std::size_t day) { return day < 7 ? 1.0 : 1.25; };
  const std::vector<double> weeks = weekly_spend(true, 3, jump);
  EXPECT_NEAR(weeks[1], 1.0, 0.01);
  EXPECT_NEAR(weeks[2], 1.0, 0.005);
}

TEST(SpendController, LearnsADayOfTheWeekThatIsPredictedWrongly) {
  const auto sundays = [](std::size_t day) { return day % 7 == 6 ? 0.9 : 1.0; };
  const std::vector<double> weeks = weekly_spend(true, 4, sundays);
  EXPECT_NEAR(weeks[0], 1.0, 0.02);
  EXPECT_NEAR(weeks[3], 1.0, 0.006);
}

TEST(SpendController, IsCalmWhereTheDaysAreNoisy) {
  const std::uint64_t seed = 4;
  SCOPED_TRACE(seed);
  const auto noise = [&](std::size_t day) {
    return 1.1 * std::exp(0.05 * core::RandomStream(seed, core::stream_purpose("test"), day).normal());
  };
  double squares = 0.0;
  for (const double week : weekly_spend(true, 100, noise)) squares += (week - 1.0) * (week - 1.0) / 100.0;
  EXPECT_LT(std::sqrt(squares), 0.015);  // days are off by 0.05; the last of a week cannot be made up for
}

TEST(SpendController, OffItPlansForTheDailyBudget) {
  SpendController controller(false);
  controller.observe(100.0, 2, 100.0, 250.0);
  EXPECT_EQ(controller.target(100.0, 3, 4), 100.0);
}

// Units with an effect of their own that come back in both groups: intervals over units cover, a thousand tests over.
TEST(GroupSums, IntervalsCoverWhereUnitsComeBack) {
  const std::size_t num_units = 300, days = 7, tests = 1000;
  const double lift = 0.1;
  std::size_t mean_covered = 0, gain_covered = 0;
  for (std::size_t test = 0; test < tests; ++test) {
    GroupSums sums(num_units, 2);
    for (std::size_t unit = 0; unit < num_units; ++unit) {
      core::RandomStream stream(test, core::stream_purpose("test groups"), unit);
      const double level = stream.gamma(2.0);  // mean 2
      for (std::size_t day = 0; day < days; ++day) {
        const std::size_t group = stream.below(2);
        sums.add(unit, group, level * (group == 1 ? 1.0 + lift : 1.0) * (0.5 + stream.uniform()), 1.0);
      }
    }
    const Interval mean = sums.mean_revenue(0, 0.95);
    const Interval gain = sums.relative_gain(1, 0, 0.95);
    mean_covered += mean.low <= 2.0 && 2.0 <= mean.high;
    gain_covered += gain.low <= lift && lift <= gain.high;
  }
  EXPECT_GE(mean_covered, 930u);
  EXPECT_LE(mean_covered, 970u);
  EXPECT_GE(gain_covered, 930u);
  EXPECT_LE(gain_covered, 970u);
}

TEST(GroupSums, TotalsAreSums) {
  GroupSums sums(3, 2);
  sums.add(0, 1, 2.0, 0.5);
  sums.add(2, 1, 4.0, 0.25);
  sums.add(1, 0, 1.0, 0.0);
  EXPECT_EQ(sums.totals(1).unit_days, 2u);
  EXPECT_DOUBLE_EQ(sums.totals(1).revenue, 6.0);
  EXPECT_DOUBLE_EQ(sums.totals(1).spend, 0.75);
  EXPECT_DOUBLE_EQ(sums.relative_gain(1, 0, 0.95).value, 2.0);
  sums.clear();
  EXPECT_EQ(sums.totals(1).unit_days, 0u);
}

data::Study small_study() {
  data::Study study;
  study.columns.id = "shop_id";
  study.columns.arm = "discount";
  study.columns.revenue = "orders";
  study.columns.cost = "subsidy";
  study.arms.control = "0";
  study.arms.order = {"0", "5", "10", "15", "20"};
  study.cost = {true, true, true};
  study.budgets.share_of_max = {0.2};
  study.split.train = 0.9;
  study.split.test = 0.0;
  study.method.epochs = 2;
  study.network.hidden = {8};
  study.deploy.methods = {"tsm", "dfcl-mer"};
  study.deploy.units = 1500;
  study.deploy.days = 9;
  study.deploy.trial_units = 600;
  study.deploy.trial_days = 3;
  return study;
}

void expect_equal(const DeployResult& a, const DeployResult& b) {
  for (const auto way : {&DeployResult::with_controller, &DeployResult::without_controller}) {
    ASSERT_EQ((a.*way).weeks.size(), (b.*way).weeks.size());
    for (std::size_t week = 0; week < (a.*way).weeks.size(); ++week) {
      for (std::size_t group = 0; group < a.methods.size(); ++group) {
        const GroupResult &x = (a.*way).weeks[week].groups[group], &y = (b.*way).weeks[week].groups[group];
        EXPECT_EQ(x.revenue, y.revenue);
        EXPECT_EQ(x.spend, y.spend);
        EXPECT_EQ(x.gain.low, y.gain.low);
      }
    }
  }
}

TEST(Deploy, GivesTheSameNumbersOnAnyNumberOfThreads) {
  core::RunContext one(1, 3), eight(8, 3);
  expect_equal(deploy(small_study(), {}, one), deploy(small_study(), {}, eight));
}

TEST(Deploy, SplitsTheUnitsEquallyAndGivesEachGroupItsShare) {
  core::RunContext context(2, 3);
  const DeployResult result = deploy(small_study(), {}, context);
  ASSERT_EQ(result.with_controller.weeks.size(), 2u);
  EXPECT_EQ(result.with_controller.weeks[1].days, 2u);
  for (const WeekResult& week : result.with_controller.weeks) {
    // 75 of 1,500 explore each day; the rest is halved.
    const double expected = 712.5 * static_cast<double>(week.days);
    for (const GroupResult& group : week.groups) {
      EXPECT_NEAR(static_cast<double>(group.unit_days), expected, static_cast<double>(week.days));
      EXPECT_NEAR(group.budget, result.budget_per_unit * static_cast<double>(group.unit_days), 1e-6 * group.budget);
      EXPECT_NEAR(group.revenue_per_unit.value * static_cast<double>(group.unit_days), group.revenue,
                  1e-6 * group.revenue);
    }
  }
  // The second week was trained on the trial and on what was explored in the first.
  EXPECT_EQ(result.with_controller.weeks[0].training_rows, 1800u);
  EXPECT_EQ(result.with_controller.weeks[1].training_rows, 1800u + 7u * 75u);
  EXPECT_EQ(result.with_controller.total[0].revenue,
            result.with_controller.weeks[0].groups[0].revenue + result.with_controller.weeks[1].groups[0].revenue);
}

TEST(Deploy, WithoutRetrainingTheFirstModelsStay) {
  core::RunContext context(2, 3);
  data::Study study = small_study();
  study.deploy.retrain = false;
  EXPECT_EQ(deploy(study, {}, context).with_controller.weeks[1].training_rows, 1800u);
}

TEST(Deploy, CostsThatDriftAreOverspentWithoutTheController) {
  core::RunContext context(2, 3);
  data::Study study = small_study();
  study.deploy.methods = {"tsm"};
  study.deploy.units = 6000;
  study.deploy.days = 14;
  study.deploy.cost_drift = 0.5;
  study.deploy.retrain = false;
  const DeployResult result = deploy(study, {}, context);
  const GroupResult& held = result.with_controller.weeks[1].groups[0];
  const GroupResult& loose = result.without_controller.weeks[1].groups[0];
  EXPECT_NEAR(held.spend / held.budget, 1.0, 0.03);
  EXPECT_GT(loose.spend / loose.budget, held.spend / held.budget + 0.2);
}

TEST(Deploy, UnknownMethodsAreRefused) {
  core::RunContext context(1);
  data::Study study = small_study();
  study.deploy.methods = {"tms"};
  EXPECT_THROW((void)deploy(study, {}, context), core::Error);
}

}  // namespace
}  // namespace dfcl::launch
