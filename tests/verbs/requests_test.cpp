// SPDX-License-Identifier: Apache-2.0
//
// Requests that are refused before any work: the error names the field, and nothing is written. tests/wrong_values.py
// has one wrong value for each argument; here are combinations and empty values.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "dfcl/core/error.h"
#include "dfcl/verbs/allocate.h"
#include "dfcl/verbs/check.h"
#include "dfcl/verbs/evaluate.h"
#include "dfcl/verbs/export_model.h"
#include "dfcl/verbs/info.h"
#include "dfcl/verbs/init.h"
#include "dfcl/verbs/power.h"
#include "dfcl/verbs/predict.h"
#include "dfcl/verbs/readout.h"
#include "dfcl/verbs/report.h"
#include "dfcl/verbs/simulate.h"
#include "dfcl/verbs/train.h"
#include "tests/io/temporary_folder.h"

namespace dfcl::verbs {
namespace {

std::string refused_field(const std::function<void(core::RunContext&)>& call) {
  core::RunContext context(1);
  try {
    call(context);
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::usage) << error.what();
    return error.details().field;
  }
  return "taken";
}

template <class Request, class Change>
auto call_allocate(Change&& change) {
  Request request;
  request.predictions = "predictions.csv";
  request.totals = {10.0};
  change(request);
  return refused_field([&](core::RunContext& context) { (void)allocate(request, context); });
}

TEST(Requests, OfAllocateNameTheFieldThatIsWrong) {
  using R = AllocateRequest;
  EXPECT_EQ(call_allocate<R>([](R& r) { r.totals = {std::nan("")}; }), "budget");
  EXPECT_EQ(call_allocate<R>([](R& r) { r.per_unit = {1.0}; }), "per_unit");
  EXPECT_EQ(call_allocate<R>([](R& r) { r.totals.clear(); }), "budget");
  EXPECT_EQ(call_allocate<R>([](R& r) { r.segment = "region"; }), "segment");
  EXPECT_EQ(call_allocate<R>([](R& r) { r.segment_budgets = "budgets.csv"; }), "segment_budgets");
  EXPECT_EQ(call_allocate<R>([](R& r) { r.second_budget = 1.0; }), "second_budget");
  EXPECT_EQ(call_allocate<R>([](R& r) { r.margin = -0.3; }), "margin");
  EXPECT_EQ(call_allocate<R>([](R& r) { r.min_roi = -1.0; }), "min_roi");
  EXPECT_EQ(call_allocate<R>([](R& r) { r.holdout_salt = "pepper"; }), "holdout_salt");
  EXPECT_EQ(call_allocate<R>([](R& r) { r.output = "plan.xlsx"; }), "output");
  EXPECT_EQ(call_allocate<R>([](R& r) { r.output = ""; }), "output");
  EXPECT_EQ(call_allocate<R>([](R& r) { r.segment = ""; }), "segment");
  EXPECT_EQ(call_allocate<R>([](R& r) { r.control = ""; }), "control");
  EXPECT_EQ(call_allocate<R>([](R& r) { r.eligible = ""; }), "eligible");
}

TEST(Requests, OfAllocateDoNotDropTheSegmentsOfPredictionsInMemory) {
  EXPECT_EQ(call_allocate<AllocateRequest>([](AllocateRequest& request) {
              request.prediction = std::make_shared<const data::Prediction>();
              request.segment = "region";
              request.segment_budgets = "budgets.csv";
            }),
            "segment");
}

TEST(Requests, WithoutWhatTheyAreAboutNameIt) {
  EXPECT_EQ(refused_field([](core::RunContext& context) { (void)check({}, context); }), "study");
  EXPECT_EQ(refused_field([](core::RunContext& context) { (void)train({}, context); }), "study");
  EXPECT_EQ(refused_field([](core::RunContext& context) { (void)info({}, context); }), "file");
  EXPECT_EQ(refused_field([](core::RunContext& context) { (void)init({}, context); }), "trial");
  EXPECT_EQ(refused_field([](core::RunContext& context) { (void)predict({}, context); }), "model");
  EXPECT_EQ(refused_field([](core::RunContext& context) { (void)read_out({}, context); }), "plan");
  EXPECT_EQ(refused_field([](core::RunContext& context) { (void)power({}, context); }), "study");
  EXPECT_EQ(refused_field([](core::RunContext& context) { (void)evaluate({}, context); }), "models");
  EXPECT_EQ(refused_field([](core::RunContext& context) { (void)simulate({}, context); }), "rows");
  EXPECT_EQ(refused_field([](core::RunContext& context) { (void)report({}, context); }), "results");
  EXPECT_EQ(refused_field([](core::RunContext& context) { (void)export_model({}, context); }), "model");
}

TEST(Requests, ThatGiveAnEmptyTextAreRefused) {
  EXPECT_EQ(refused_field([](core::RunContext& context) {
              TrainRequest request;
              request.checkpoint = "";
              (void)train(request, context);
            }),
            "checkpoint");
  EXPECT_EQ(refused_field([](core::RunContext& context) {
              ReportRequest request;
              request.results = "results.json";
              request.output = "";
              (void)report(request, context);
            }),
            "output");
}

TEST(Requests, OfPowerTakeATrialOrAStandardDeviation) {
  PowerRequest request;
  request.sd = 3.0;
  const auto field = [&] { return refused_field([&](core::RunContext& context) { (void)power(request, context); }); };
  EXPECT_EQ(field(), "gain");
  request.gains = {0.1};
  request.differ = 0.5;
  EXPECT_EQ(field(), "differ");
  request.differ.reset();
  request.study = StudyInput{};
  EXPECT_EQ(field(), "sd");
}

TEST(Requests, OfSimulateWantAFileForEachOutput) {
  const io::TemporaryFolder folder;
  SimulateRequest request;
  request.rows = 10;
  request.output = folder.file("trial.csv");
  request.truth = folder.file("trial.csv");
  EXPECT_EQ(refused_field([&](core::RunContext& context) { (void)simulate(request, context); }), "truth");
}

}  // namespace
}  // namespace dfcl::verbs
