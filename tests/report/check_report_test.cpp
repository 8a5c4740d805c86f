// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/check/check_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/check/fair_trial.h"

namespace dfcl::report {
namespace {

const std::vector<double> kShares = {0.4, 0.3, 0.3};

data::Trial busy_trial() {
  data::Trial trial = check::repeat_rows(check::fair_trial(6000, 27, kShares, 21), 2);
  check::draw_arms(trial, kShares, 22);
  std::vector<std::int64_t> ids;
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    ids.push_back(static_cast<std::int64_t>(unit / 2));
    trial.time.push_back(static_cast<std::uint32_t>(unit % 2));
    if (trial.arm[unit] == 1) trial.features.values(unit, 3) = 1.0f;
  }
  trial.times = {"mon", "tue"};
  trial.ids = data::Ids(ids);
  trial.notes = {"2 rows without an arm were dropped"};
  return trial;
}

TEST(CheckReport, IsTheSameForAnyNumberOfThreads) {
  const data::Trial trial = busy_trial();
  const data::Study study = check::study_with_shares(kShares);
  std::vector<std::string> reports;
  for (const int threads : {1, 2, 8}) {
    core::RunContext context(threads);
    reports.push_back(check_json(check::check_trial(trial, study, context)));
  }
  EXPECT_EQ(reports[0], reports[1]);
  EXPECT_EQ(reports[0], reports[2]);
}

TEST(CheckReport, SaysTheVerdictFirst) {
  core::RunContext context(1);
  const auto study = check::study_with_shares(kShares);
  const std::string text = check_text(check::check_trial(busy_trial(), study, context));
  EXPECT_EQ(text.rfind("UNFIT to learn from: 1 problem.\n  ! 'x3' looks like a consequence of the arm", 0), 0u) << text;
  for (const char* part : {"95 % interval", "Sample ratio: chi-square", "within times, pooled",
                           "Balance of the features", "Missing values: in 3 of 27 features", "Constant features: none",
                           "2 rows without an arm", "arms were drawn by unit"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  const std::string fit = check_text(check::check_trial(check::fair_trial(9000, 9, kShares, 23), study, context));
  EXPECT_EQ(fit.rfind("FIT to learn from", 0), 0u) << fit;
}

TEST(CheckReport, HoldsEveryFigureAsJson) {
  core::RunContext context(1);
  const auto result = check::check_trial(busy_trial(), check::study_with_shares(kShares), context);
  const auto json = nlohmann::json::parse(check_json(result));
  EXPECT_EQ(json["verdict"], "unfit");
  EXPECT_EQ(json["problems"][0]["kind"], "suspect");
  EXPECT_EQ(json["arms"][1]["revenue"]["value"].get<double>(), result.arms[1].revenue.value);
  EXPECT_EQ(json["arms"][1]["revenue_difference"]["low"].get<double>(),
            result.arms[1].revenue_difference->interval.low);
  EXPECT_TRUE(json["arms"][0]["revenue_difference"].is_null());
  EXPECT_EQ(json["arms"][2]["designed_share"], 0.3);
  EXPECT_EQ(json["sample_ratio"]["times"].size(), 2u);
  EXPECT_EQ(json["sample_ratio"]["pooled"]["p"].get<double>(), result.sample_ratio.pooled_p);
  EXPECT_EQ(json["balance"]["features"].size(), 27u);
  EXPECT_EQ(json["balance"]["p"].get<double>(), result.balance.p);
  EXPECT_EQ(json["columns"][4]["missing_share_per_arm"].size(), 3u);
  EXPECT_EQ(json["suspects"][0]["name"], "x3");
  EXPECT_EQ(json["duplicates"]["key"], "id and time");
}

TEST(CheckReport, SurvivesLabelsThatAreNoText) {
  core::RunContext context(1);
  data::Trial trial = check::fair_trial(2000, 2, {0.5, 0.5}, 24);
  trial.arms.labels[1] = "\xff\x1b[2J";
  const auto result = check::check_trial(trial, {}, context);
  EXPECT_TRUE(nlohmann::json::accept(check_json(result)));
  EXPECT_EQ(check_text(result).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace dfcl::report
