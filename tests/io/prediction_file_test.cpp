// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/predictions/prediction_file.h"

#include <gtest/gtest.h>

#include <functional>

#include "dfcl/core/error.h"
#include "temporary_folder.h"

namespace dfcl::io {
namespace {

constexpr const char* kPrediction =
    "id,city,revenue_0,cost_0,revenue_mail,cost_mail,eligible_mail\n"
    "a,Ulm,1,0,2,0.5,yes\n"
    "b,Bern,3,0,4,1.5,no\n"
    "c,Ulm,5,-1,6,2.5,yes\n";

std::string what_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::data);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(PredictionFile, ReadsArmsMatricesMaskAndSegments) {
  const TemporaryFolder folder;
  core::RunContext context(2);
  const PredictionTable table = read_prediction(folder.write("p.csv", kPrediction), "city", context);
  EXPECT_EQ(table.prediction.arms.labels, (std::vector<std::string>{"0", "mail"}));
  EXPECT_EQ(table.prediction.ids.text(2), "c");
  EXPECT_EQ(table.prediction.revenue(1, 1), 4.0f);
  EXPECT_EQ(table.prediction.cost(2, 0), -1.0f);
  EXPECT_EQ(table.eligible(0, 1), 1);
  EXPECT_EQ(table.eligible(1, 1), 0);
  EXPECT_EQ(table.eligible(1, 0), 1);
  EXPECT_EQ(table.segments, (std::vector<std::string>{"Ulm", "Bern"}));
  EXPECT_EQ(table.segment, (std::vector<std::uint32_t>{0, 1, 0}));
}

TEST(PredictionFile, NamesTheUnitOfAValueThatIsNoNumber) {
  const TemporaryFolder folder;
  core::RunContext context(1);
  const std::string path = folder.write("p.csv", "id,revenue_0,cost_0\nu1,1,0\nu2,nan,0\n");
  EXPECT_NE(what_of([&] { read_prediction(path, "", context); }).find("unit 'u2', column 'revenue_0'"),
            std::string::npos);
  const std::string lone = folder.write("lone.csv", "id,revenue_0\nu1,1\n");
  EXPECT_NE(what_of([&] { read_prediction(lone, "", context); }).find("no column 'cost_0'"), std::string::npos);
}

TEST(PredictionFile, JoinsOtherTablesById) {
  const TemporaryFolder folder;
  core::RunContext context(2);
  const data::Prediction prediction = read_prediction(folder.write("p.csv", kPrediction), "", context).prediction;
  const std::string mask = folder.write("mask.csv", "id,eligible_mail\nc,0\nb,1\nz,0\na,1\n");
  const auto eligible = read_eligibility(mask, prediction.arms.labels, prediction.ids, context);
  EXPECT_EQ(eligible(0, 1), 1);
  EXPECT_EQ(eligible(2, 1), 0);
  EXPECT_EQ(eligible(2, 0), 1);
  const std::string second = folder.write("second.csv", "id,cost_mail,cost_0\nc,3,0\nb,2,0\na,1,0\n");
  EXPECT_EQ(read_second_cost(second, prediction.arms.labels, prediction.ids, context)(2, 1), 3.0f);
  const std::string typo = folder.write("typo.csv", "id,eligible_mial\na,1\n");
  EXPECT_NE(what_of([&] {
              read_eligibility(typo, prediction.arms.labels, prediction.ids, context);
            }).find("did you mean 'mail'"),
            std::string::npos);
  const std::string budgets = folder.write("budgets.csv", "segment,budget\nUlm,10\nBern,20.5\n");
  EXPECT_EQ(read_segment_budgets(budgets, context), (std::map<std::string, double>{{"Bern", 20.5}, {"Ulm", 10}}));
}

}  // namespace
}  // namespace dfcl::io
