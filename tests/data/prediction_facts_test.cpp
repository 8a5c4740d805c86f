// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/prediction_facts.h"

#include <gtest/gtest.h>

#include "dfcl/core/error.h"

namespace dfcl::data {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

PredictionFacts read(std::vector<std::string> labels, Options options) {
  return read_facts(std::move(labels), {"prediction", "", "", std::move(options)}, "p.parquet");
}

TEST(PredictionFacts, AreReadBackAsTheyWereWritten) {
  PredictionFacts facts;
  facts.arms = {{"big", "none", "small"}, 1, false};
  facts.is_index = true;
  facts.model = "0123";
  facts.method = "drm";
  facts.trained_on = "3:0f:";
  facts.price = {0.15, 0.0, 1.0 / 3.0};
  facts.evaluated = EvaluatedPlans{.num_units = 40, .plans = {{0.0, 0.0, 0.0, 0.0}, {0.1, 1.0 / 7.0, 0.1, 0.02}}};
  EXPECT_EQ(read(facts.arms.labels, fact_options(facts)), facts);
}

TEST(PredictionFacts, GuessTheControlWhereNobodySays) {
  EXPECT_EQ(read({"5", "0"}, {}).arms.control, 1u);
  EXPECT_EQ(read({"big", "none", "small"}, {}).arms.control, 1u);
  EXPECT_EQ(read({"a", "b"}, {}).arms.control, 0u);
  EXPECT_TRUE(read({"5", "0"}, {}).control_is_guessed && read({"5", "0"}, {}).index_is_guessed);
  // Its own word counts for more than what the label looks like.
  const PredictionFacts known = read({"0", "-5"}, {{"control", "-5"}});
  EXPECT_EQ(known.arms.control, 1u);
  EXPECT_FALSE(known.control_is_guessed);
}

TEST(PredictionFacts, ATruthIsFittedOnNothing) {
  EXPECT_EQ(read_facts({"0", "1"}, {"truth", "", "", {}}, "t.parquet").trained_on, kTrainedOnNothing);
  EXPECT_EQ(read_facts({"0", "1"}, {"prediction", "", "", {}}, "p.parquet").trained_on, "");
}

TEST(PredictionFacts, RefuseWhatMakesNoSense) {
  for (const Options& options :
       {Options{{"control", "c"}}, Options{{"revenue_is_index", "perhaps"}}, Options{{"price_a", "0.1"}},
        Options{{"price_a", "0.1"}, {"price_b", "much"}}, Options{{"price_a", "0.1"}, {"price_b", "inf"}},
        Options{{"evaluated_plans", "a lot"}}}) {
    try {
      (void)read({"a", "b"}, options);
      ADD_FAILURE() << options.front().first << "=" << options.front().second;
    } catch (const core::Error& error) {
      EXPECT_EQ(error.kind(), core::ErrorKind::data);
      EXPECT_EQ(error.details().where, "p.parquet");
    }
  }
}

TEST(PredictionFacts, TheCallerSpeaksWhereTheyAreSilent) {
  PredictionFacts facts = read({"a", "b"}, {});
  apply_said({.control = "b", .is_index = true}, facts);
  EXPECT_EQ(facts.arms.control, 1u);
  EXPECT_TRUE(facts.is_index);
  EXPECT_FALSE(facts.control_is_guessed || facts.index_is_guessed);
}

TEST(PredictionFacts, TheCallerCannotContradictThem) {
  const auto field_of = [](const SaidOfPrediction& said, PredictionFacts facts) -> std::string {
    try {
      apply_said(said, facts);
    } catch (const core::Error& error) {
      EXPECT_EQ(error.kind(), core::ErrorKind::usage);
      return error.details().field;
    }
    return "";
  };
  const PredictionFacts ours = read({"a", "b"}, {{"control", "a"}, {"revenue_is_index", "false"}, {"model", "12"}});
  EXPECT_EQ(field_of({.control = "b", .is_index = {}}, ours), "control");
  EXPECT_EQ(field_of({.control = "c", .is_index = {}}, ours), "control");
  EXPECT_EQ(field_of({.control = "a", .is_index = false}, ours), "");
  EXPECT_EQ(field_of({.control = "", .is_index = true}, ours), "index");
  const PredictionFacts index = read({"a", "b"}, {{"revenue_is_index", "true"}});
  EXPECT_EQ(field_of({.control = "", .is_index = false}, index), "index");
}

}  // namespace
}  // namespace dfcl::data
