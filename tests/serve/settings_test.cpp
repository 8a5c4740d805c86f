// SPDX-License-Identifier: Apache-2.0
#include "dfcl/serve/settings.h"

#include <gtest/gtest.h>

#include "dfcl/core/error.h"

namespace dfcl::serve {
namespace {

constexpr Scope kScope{.num_arms = 3, .num_segments = 2, .has_second = true};

TEST(Settings, AreReadAsTheyStand) {
  const SolveRequest request = read_request(
      R"({"budget": 10.5, "objective": "profit", "worth": 0.4, "min_roi": 2, "min_units": [null, 3, null],
          "max_units": [null, null, 7], "segment_budgets": [1, null], "second_budget": 5, "keep_eligibility": false,
          "pin": true})",
      kScope);
  const Settings& settings = request.settings;
  EXPECT_TRUE(request.pin);
  EXPECT_EQ(settings.budget, 10.5);
  EXPECT_EQ(settings.objective, allocate::Objective::profit);
  EXPECT_EQ(settings.worth, 0.4);
  EXPECT_EQ(settings.min_roi, 2.0);
  EXPECT_EQ(settings.min_units, (std::vector<std::int64_t>{0, 3, 0}));
  EXPECT_EQ(settings.max_units, (std::vector<std::int64_t>{-1, -1, 7}));
  EXPECT_EQ(settings.segment_budgets, (std::vector<double>{1.0, allocate::kNoBudget}));
  EXPECT_EQ(settings.second_budget, 5.0);
  EXPECT_FALSE(settings.keep_eligibility);
  EXPECT_TRUE(settings.is_coupled());
}

TEST(Settings, WithoutLimitsTieNoUnitsTogether) {
  const SolveRequest request = read_request(
      R"({"budget": null, "min_units": [null, null, null], "max_units": [null, null, null],
          "segment_budgets": [null, null], "second_budget": null})",
      kScope);
  EXPECT_EQ(request.settings, Settings{});
  EXPECT_FALSE(request.settings.is_coupled());
}

TEST(Settings, RefuseEverythingElse) {
  const std::string refused[] = {"",
                                 "[]",
                                 "null",
                                 "{",
                                 R"({"budget": "1"})",
                                 R"({"budget": 1e999})",
                                 R"({"budget": true})",
                                 R"({"objective": "value"})",
                                 R"({"worth": 0})",
                                 R"({"worth": null})",
                                 R"({"min_roi": -1})",
                                 R"({"min_units": [1, 2]})",
                                 R"({"min_units": [1.5, 2, 3]})",
                                 R"({"max_units": [-1, 2, 3]})",
                                 R"({"max_units": [99999999999999999999, 2, 3]})",
                                 R"({"segment_budgets": [1]})",
                                 R"({"second_budget": -1})",
                                 R"({"pin": 1})",
                                 R"({"predictions": "/etc/passwd"})",
                                 std::string(30'000, '['),
                                 std::string(5'000, '{'),
                                 "{\"" + std::string(kMostRequestBytes, 'a') + "\": 1}"};
  for (const std::string& text : refused) {
    try {
      read_request(text, kScope);
      ADD_FAILURE() << text.substr(0, 60);
    } catch (const core::Error& error) {
      EXPECT_EQ(error.kind(), core::ErrorKind::usage) << text.substr(0, 60);
    }
  }
  EXPECT_THROW(read_request(R"({"second_budget": 1})", {.num_arms = 3}), core::Error);
}

}  // namespace
}  // namespace dfcl::serve
