// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "dfcl/check/roles/arm_difference.h"
#include "dfcl/check/roles/missing_codes.h"
#include "dfcl/check/roles/outcomes.h"
#include "dfcl/check/roles/role_words.h"
#include "dfcl/core/random.h"

namespace dfcl::check {
namespace {

data::SampledColumn number_column(std::string name, std::vector<float> numbers) {
  data::SampledColumn column;
  column.name = std::move(name);
  column.numbers = std::move(numbers);
  return column;
}

TEST(RoleWords, NamesAreTakenApart) {
  EXPECT_EQ(words_of("totalOrders_30d"), (std::vector<std::string>{"total", "orders", "d"}));
  EXPECT_EQ(name_score("Revenue", Word::revenue), 3);
  EXPECT_EQ(name_score("net_revenue", Word::revenue), 2);
  EXPECT_EQ(name_score("amountgiven", Word::revenue), 1);
  EXPECT_EQ(name_score("hpa", Word::revenue), 0);
  EXPECT_EQ(name_score("orders_7d", Word::before), 3);
  EXPECT_GT(name_score("median_hhincome", Word::before), 0);
}

TEST(RoleWords, WordsForControl) {
  for (const char* label : {"Control", "none", "No", "0", "placebo", "No E-Mail", "control_group", "n", "false"})
    EXPECT_EQ(control_score(label), 2) << label;
  for (const char* label : {"Northern", "N1", "Offer", "Neighbors", "5", "mail"})
    EXPECT_EQ(control_score(label), 0) << label;
}

TEST(RoleWords, OtherLanguagesAndAccents) {
  EXPECT_EQ(name_score("Umsatz", Word::revenue), 3);
  EXPECT_EQ(name_score("Gesamtumsatz", Word::revenue), 1);
  EXPECT_EQ(name_score("chiffre_affaires", Word::revenue), 2);
  EXPECT_EQ(name_score("Kosten", Word::cost), 3);
  EXPECT_EQ(name_score("co\u00fbt", Word::cost), 3);  // coût
  EXPECT_GT(name_score("umsatz_vorjahr", Word::before), 0);
  EXPECT_GE(name_score("K\u00dcNDIGUNG", Word::loss), 2);  // KÜNDIGUNG
  EXPECT_EQ(name_score("returning_customer", Word::loss), 1);
  for (const char* label : {"Kontrolle", "Kontrollgruppe", "T\u00e9moin", "sin oferta", "kein Rabatt", "0 EUR",
                            "\u20ac0", "hold-out", "0%"})
    EXPECT_EQ(control_score(label), 2) << label;
  for (const char* label : {"10 EUR", "Kontakt", "sint", "5%", "V0"}) EXPECT_EQ(control_score(label), 0) << label;
}

TEST(Outcomes, AreFlagsCountsOrAmounts) {
  std::vector<float> count, money, whole;
  data::SampledColumn two = number_column("bought", {});
  two.labels = {"0", "1"};
  for (int row = 0; row < 100; ++row) {
    two.numbers.push_back(static_cast<float>(row % 2));
    two.codes.push_back(static_cast<std::uint32_t>(row % 2));
    count.push_back(static_cast<float>(row % 5));
    money.push_back(static_cast<float>(row) + 0.25f);
    whole.push_back(static_cast<float>(row % 7));
  }
  EXPECT_EQ(outcome_kind(two), OutcomeKind::flag);
  EXPECT_EQ(outcome_kind(number_column("orders", count)), OutcomeKind::count);
  EXPECT_EQ(outcome_kind(number_column("x", money)), OutcomeKind::amount);
  EXPECT_EQ(outcome_kind(number_column("revenue", whole)), OutcomeKind::amount);
}

TEST(Outcomes, LossesAreNamed) {
  for (const char* name :
       {"churn", "churned", "refund_amount", "product_returns", "Retouren", "complaints", "unsubscribed"})
    EXPECT_TRUE(is_loss(name)) << name;
  for (const char* name :
       {"complaints_last_year", "refunds_90d", "churn_score", "returning", "default_channel", "revenue"})
    EXPECT_FALSE(is_loss(name)) << name;
}

// Drawn with these probabilities, 1 / p averages to the number of arms; P(treated) of everybody does not.
TEST(ArmDifference, KnowsAPropensity) {
  ArmCodes arms{.arm = {}, .num_arms = 2, .control = 0, .group = {}, .num_groups = 0};
  std::vector<float> received, treated;
  core::RandomStream random(2, core::stream_purpose("test propensity"), 0);
  for (int row = 0; row < 4000; ++row) {
    const double p = 0.2 + 0.2 * random.uniform();
    const bool is_treated = random.bernoulli(p);
    arms.arm.push_back(is_treated ? 1 : 0);
    received.push_back(static_cast<float>(is_treated ? p : 1.0 - p));
    treated.push_back(static_cast<float>(p));
  }
  EXPECT_TRUE(is_propensity(number_column("p", received), arms)) << "seed 2";
  EXPECT_FALSE(is_propensity(number_column("p", treated), arms));
}

TEST(RoleWords, WhatIsShownHoldsNoLineEnd) {
  EXPECT_EQ(shown("a\nb\x7f"), "a?b?");
  EXPECT_LT(shown(std::string(500, 'x')).size(), 70u);
}

// Arms drawn by group, and a column that is the same for all of a group: without groups the test rejects far too often.
TEST(ArmDifference, RejectsAboutFivePercentWhereArmsAreDrawnByGroup) {
  constexpr int kTrials = 1000;
  constexpr std::uint32_t kGroups = 400;
  int by_group = 0;
  int by_row = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    core::RandomStream random(trial, core::stream_purpose("arm difference"), 0);
    ArmCodes arms{.arm = {}, .num_arms = 3, .control = 0, .group = {}, .num_groups = kGroups};
    std::vector<float> numbers;
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      const auto arm = static_cast<std::uint32_t>(3.0 * random.uniform());
      const auto value = static_cast<float>(random.normal());
      for (std::uint32_t row = 0; row < 1 + group % 4; ++row) {
        arms.arm.push_back(arm);
        arms.group.push_back(group);
        numbers.push_back(value + 0.3f * static_cast<float>(random.normal()));
      }
    }
    const data::SampledColumn column = number_column("x", numbers);
    by_group += arm_difference(column, arms).p < 0.05 ? 1 : 0;
    arms.group.clear();
    by_row += arm_difference(column, arms).p < 0.05 ? 1 : 0;
  }
  // Twice the smaller of two dependent p-values: at most 5 %, and not far below.
  EXPECT_LE(by_group, 65);
  EXPECT_GE(by_group, 20);
  EXPECT_GE(by_row, 150);
}

TEST(ArmDifference, SeesZerosInControlAndFunctionsOfTheArm) {
  ArmCodes arms{.arm = {}, .num_arms = 2, .control = 0, .group = {}, .num_groups = 0};
  std::vector<float> cost, price;
  for (int row = 0; row < 400; ++row) {
    arms.arm.push_back(static_cast<std::uint32_t>(row % 2));
    cost.push_back(row % 2 == 1 && row % 3 == 0 ? 2.5f : 0.0f);
    price.push_back(row % 2 == 1 ? 4.0f : 0.0f);
  }
  const ArmDifference of_cost = arm_difference(number_column("c", cost), arms);
  EXPECT_TRUE(of_cost.zero_in_control);
  EXPECT_NEAR(std::log(of_cost.zero_by_chance), 200.0 * std::log(1.0 - of_cost.non_zero[1]), 1e-9);
  EXPECT_FALSE(of_cost.is_function_of_arm);
  EXPECT_TRUE(arm_difference(number_column("p", price), arms).is_function_of_arm);
}

TEST(Outcomes, WithinMeansBeyondChance) {
  std::vector<float> visit, conversion, rare;
  for (int row = 0; row < 1000; ++row) {
    visit.push_back(row % 10 == 0 ? 1.0f : 0.0f);
    conversion.push_back(row % 50 == 0 ? 1.0f : 0.0f);
    rare.push_back(row == 0 ? 1.0f : 0.0f);
  }
  EXPECT_TRUE(is_within(number_column("c", conversion), number_column("v", visit)));
  EXPECT_FALSE(is_within(number_column("v", visit), number_column("c", conversion)));
  EXPECT_FALSE(is_within(number_column("r", rare), number_column("v", visit)));  // one row lies there by chance
}

TEST(MissingCodes, LieAloneAtOneEnd) {
  data::TableSample sample;
  sample.num_rows = 4;
  sample.columns = {number_column("age", {-999.0f, 20.0f, 40.0f, 60.0f}), number_column("x", {0.0f, 1.0f, 2.0f, 3.0f})};
  EXPECT_EQ(find_missing_codes(sample, {false, false}), std::vector<double>{-999.0});
  // Somewhere else it is a value like others.
  sample.columns[1].numbers = {-999.0f, -998.0f, -1500.0f, 3.0f};
  EXPECT_TRUE(find_missing_codes(sample, {false, false}).empty());
  EXPECT_EQ(find_missing_codes(sample, {false, true}), std::vector<double>{-999.0});
}

}  // namespace
}  // namespace dfcl::check
