// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/plan/promise_report.h"

#include <gtest/gtest.h>

#include "dfcl/report/plan/plan_report.h"

namespace dfcl::report {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

launch::Promise promise() {
  launch::Promise made{.status = launch::PromiseStatus::above, .planned = {.units = 1000, .revenue = 64254.0}};
  made.revenue = {18600.0, 9100.0, 28000.0};
  made.cost = {9000.0, 8000.0, 10000.0};
  made.unseen_units = 36012;
  made.chose_members = true;
  return made;
}

PlanSummary summary() {
  PlanSummary plan;
  plan.solution.status = allocate::Status::optimal;
  plan.solution.revenue = 164254.0;
  plan.solution.control_revenue = 100000.0;
  plan.solution.units_per_arm = {500, 500};
  plan.num_units = 1000;
  plan.arms = {"0", "1"};
  plan.budget = 10000.0;
  plan.promise = promise();
  return plan;
}

TEST(PromiseReport, SaysBothFiguresInOneSentence) {
  EXPECT_EQ(promise_sentence(promise()),
            "predicted +64,254.00; on units the model had not seen such a plan was worth 18,600.00 (9,100.00 to "
            "28,000.00)");
  data::ReportWords words;
  words.currency = "EUR";
  words.unit = "customer";
  EXPECT_EQ(
      promise_sentence(promise(), words),
      "predicted +EUR 64,254.00; on customers the model had not seen such a plan was worth EUR 18,600.00 (9,100.00 "
      "to 28,000.00)");
  launch::Promise index = promise();
  index.status = launch::PromiseStatus::index;
  EXPECT_FALSE(has(promise_sentence(index), "predicted"));
  EXPECT_EQ(promise_sentence(launch::not_evaluated({}, "there is a second budget")),
            "not evaluated: there is a second budget");
}

TEST(PromiseReport, APlanShowsWhatSuchPlansWereWorth) {
  const std::string text = plans_text({summary()});
  EXPECT_TRUE(has(text, "18,600.00  (9,100 to 28,000) over control, on 36,012 units, each by a fit without it"))
      << text;
  PlanSummary plan = summary();
  plan.promise = launch::not_evaluated({}, "there is a second budget");
  EXPECT_TRUE(has(plans_text({plan}), "no  there is a second budget")) << plans_text({plan});
  const std::string table = plans_text({summary(), plan});
  EXPECT_TRUE(has(table, "18,600 (9,100 to 28,000)")) << table;
}

TEST(PromiseReport, APlanSaysItToMachines) {
  const std::string json = plans_json({summary()});
  EXPECT_TRUE(has(json, "\"status\": \"above\"")) << json;
  EXPECT_TRUE(has(json, "\"before_selection\": true")) << json;
  bool found = false;
  for (const auto& [key, value] : plan_metadata(summary())) {
    if (key == "evaluated_revenue_per_unit") found = value == "18.6";
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace dfcl::report
