// SPDX-License-Identifier: Apache-2.0
//
// What readouts and deployments say in their first lines.
#include <gtest/gtest.h>

#include "dfcl/report/launch/deploy_parts.h"
#include "dfcl/report/launch/readout_parts.h"

namespace dfcl::report {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

launch::GroupResult group(const std::string& method, core::Interval gain, double spend) {
  return {method, 1000, 5000.0, spend, 100.0, {5.0, 4.9, 5.1}, gain};
}

// Two methods, with the controller on; tsm is the reference.
launch::DeployResult deployment(core::Interval gain, double spend) {
  launch::DeployResult result;
  result.methods = {"tsm", "mer"};
  result.units = 1000;
  result.days = 7;
  result.with_controller.total = {group("tsm", {}, 101.0), group("mer", gain, spend)};
  result.without_controller = result.with_controller;
  return result;
}

TEST(DeployVerdict, SaysLessOfAnIntervalWhollyBelowZero) {
  const Verdict less = deploy_verdict(deployment({-0.05, -0.08, -0.02}, 100.0), true);
  EXPECT_EQ(less.status, "loses");
  EXPECT_EQ(less.sentence, "In 7 simulated days with 1,000 units, mer earned less than tsm: -5.00 % (-8.00 to -2.00).");
  const Verdict chance = deploy_verdict(deployment({0.01, -0.02, 0.04}, 100.0), true);
  EXPECT_TRUE(has(chance.sentence, "mer is not shown to differ from tsm: ")) << chance.sentence;
  const Verdict more = deploy_verdict(deployment({0.05, 0.02, 0.08}, 100.0), true);
  EXPECT_EQ(more.status, "launch");
  EXPECT_TRUE(has(more.sentence, "mer earned more than tsm: ")) << more.sentence;
}

TEST(DeployVerdict, NamesOverspendingInItsFirstSentence) {
  const Verdict over = deploy_verdict(deployment({0.05, 0.02, 0.08}, 537.0), true);
  EXPECT_TRUE(over.sentence.ends_with(" Not at equal spend: mer spent +437.0 % against the budget.")) << over.sentence;
  EXPECT_FALSE(has(deploy_verdict(deployment({0.05, 0.02, 0.08}, 105.0), true).sentence, "equal spend"));
}

launch::Readout readout() {
  launch::Readout result;
  result.units_per_role = {900, 100, 0};
  result.incremental_revenue = {500.0, 100.0, 900.0};
  result.total_spend = 250.0;
  result.per_unit.return_per_cost = {2.0, 0.4, 3.6};
  return result;
}

TEST(ReadoutVerdict, SaysWhichPartOfTheBudgetTheCountedUnitsHad) {
  launch::Readout part = readout();
  part.budget = 238.61;
  part.budget_of_all = 300.0;
  EXPECT_TRUE(
      has(readout_verdict(part).details[1],
          "against a budget of 238.61, the part of 300.00 that was planned for the units counted here, (+4.8 %)."))
      << readout_verdict(part).details[1];
  part.budget = 300.0;
  EXPECT_TRUE(has(readout_verdict(part).details[1], "against a budget of 300.00 (-16.7 %)."))
      << readout_verdict(part).details[1];
}

TEST(ReadoutVerdict, PutsWhatWasPromisedBesideWhatWasDelivered) {
  launch::Readout kept = readout();
  kept.planned_incremental = 640.0;
  kept.budget = kept.budget_of_all = 250.0;
  EXPECT_EQ(readout_verdict(kept).details[1],
            "Promised: +640.00 by the predictions. Delivered: +500.00 (100.00 to 900.00); what was predicted "
            "lies within.");
  EXPECT_EQ(readout_verdict(kept).details[2], "Spend was 250.00 against a budget of 250.00 (0.0 %).");
  kept.planned_incremental = 6400.0;
  kept.evaluated_incremental = core::Interval{450.0, 250.0, 650.0};
  EXPECT_EQ(readout_verdict(kept).details[1],
            "Promised: +6,400.00 by the predictions, +450.00 (250.00 to 650.00) by units the model had not seen. "
            "Delivered: +500.00 (100.00 to 900.00): less than predicted.");
  kept.planned_incremental.reset();
  EXPECT_EQ(
      readout_verdict(kept).details[1],
      "Promised: +450.00 (250.00 to 650.00) by units the model had not seen. Delivered: +500.00 (100.00 to 900.00).");
  const Table summary = readout_tables(kept).front();
  EXPECT_EQ(summary.rows[0][0], "revenue over the hold-out");
  EXPECT_EQ(summary.rows.back()[2], "250.00");
  EXPECT_EQ(summary.rows.back()[3], "") << "money that was spent has no interval";
}

TEST(ReadoutVerdict, SaysWhetherThePlanPaidBack) {
  launch::Readout paid = readout();
  paid.value_per_revenue = 0.5;
  paid.incremental_profit = core::Interval{100.0, 20.0, 180.0};
  paid.roi = core::Interval{0.4, 0.1, 0.7};
  EXPECT_EQ(readout_verdict(paid).status, "launch");
  EXPECT_TRUE(readout_verdict(paid).sentence.ends_with(
      " It paid back: +100.00 (20.00 to 180.00) of profit over the hold-out, at "
      "0.5 for one unit of revenue; ROI 40.0 %."))
      << readout_verdict(paid).sentence;
  paid.incremental_profit = core::Interval{-100.0, -180.0, -20.0};
  EXPECT_TRUE(has(readout_verdict(paid).sentence, " It did not pay back: ")) << "more revenue is not enough";
  EXPECT_EQ(readout_verdict(paid).status, "loses");
  paid.incremental_profit = core::Interval{10.0, -20.0, 40.0};
  EXPECT_TRUE(has(readout_verdict(paid).sentence, " Whether it paid back is not shown: "));
  EXPECT_EQ(readout_verdict(paid).status, "not_shown");
  paid.per_unit.return_per_cost = core::Interval();
  EXPECT_EQ(readout_verdict(paid).details[0], "A return is not defined: no more was spent than on the hold-out.");
}

}  // namespace
}  // namespace dfcl::report
