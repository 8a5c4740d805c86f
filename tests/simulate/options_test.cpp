// SPDX-License-Identifier: Apache-2.0
#include "dfcl/simulate/options.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dfcl/core/error.h"
#include "dfcl/simulate/simulator.h"

namespace dfcl::simulate {
namespace {

struct BadOptions {
  const char* name;
  SimulatorOptions options;
  const char* field;
  const char* found;
};

TEST(SimulatorOptions, AreRefusedWithTheOptionAndTheValue) {
  const std::vector<BadOptions> cases = {
      {"no rows", {.num_rows = 0}, "rows", "0"},
      {"too many rows", {.num_rows = std::uint64_t{1} << 41}, "rows", "2199023255552"},
      {"rows that days do not divide", {.num_rows = 100, .num_days = 7}, "rows", "100"},
      {"criteo with days", {.preset = Preset::criteo, .num_rows = 70, .num_days = 7}, "days", "7"},
      {"too many days", {.num_rows = 1'000'000, .num_days = 1'000'000}, "days", "1000000 after 0"},
      {"too few shares", {.num_rows = 10, .shares = {0.5, 0.5}}, "shares", "2 shares"},
      {"shares that sum to less", {.num_rows = 10, .shares = {0.2, 0.2, 0.2, 0.2, 0.1}}, "shares", "a sum of 0.9"},
      {"an empty arm", {.preset = Preset::criteo, .num_rows = 10, .shares = {0.0, 1.0}}, "shares", "0"},
      {"a share that is no number",
       {.preset = Preset::criteo, .num_rows = 10, .shares = {std::nan(""), 0.5}},
       "shares",
       "nan"},
      {"negative noise", {.num_rows = 10, .noise = -1.0}, "noise", "-1"},
      {"noise that is no number", {.num_rows = 10, .noise = std::nan("")}, "noise", "nan"},
      {"endless noise", {.num_rows = 10, .noise = std::numeric_limits<double>::infinity()}, "noise", "inf"},
      {"a response of another preset", {.response = Response::rules, .num_rows = 10}, "response", "rules"},
      {"varied with a tree",
       {.preset = Preset::varied, .response = Response::tree, .num_rows = 10},
       "response",
       "tree"},
      {"varied with days", {.preset = Preset::varied, .num_rows = 70, .num_days = 7}, "days", "7"},
      {"varied with noise", {.preset = Preset::varied, .num_rows = 10, .noise = 2.0}, "noise", "2"},
      {"varied that changes", {.preset = Preset::varied, .num_rows = 10, .cost_scale = 2.0}, "cost_scale", "2, 0"},
      {"shares for other arms", {.preset = Preset::varied, .num_rows = 10, .shares = {0.5, 0.5}}, "shares", "2 shares"},
      {"noise for 0/1 outcomes", {.preset = Preset::criteo, .num_rows = 10, .noise = 2.0}, "noise", "2"},
  };
  for (const BadOptions& bad : cases) {
    try {
      const Simulator simulator(bad.options);
      ADD_FAILURE() << bad.name << " was accepted";
    } catch (const core::Error& error) {
      EXPECT_EQ(error.kind(), core::ErrorKind::usage) << bad.name;
      EXPECT_EQ(error.details().field, bad.field) << bad.name;
      EXPECT_EQ(error.details().found, bad.found) << bad.name;
      EXPECT_FALSE(error.details().expected.empty()) << bad.name;
    }
  }
}

TEST(SimulatorOptions, NamesGoBothWays) {
  for (const Preset preset : {Preset::marketing, Preset::criteo, Preset::varied})
    EXPECT_EQ(core::parse_word<Preset>(core::to_word(preset), "preset"), preset);
  for (const Response response : {Response::smooth, Response::tree, Response::sparse, Response::rules, Response::few}) {
    EXPECT_EQ(core::parse_word<Response>(core::to_word(response), "response"), response);
  }
}

TEST(SimulatorOptions, AMistypedNameGetsASuggestion) {
  try {
    (void)core::parse_word<Preset>("marketting", "preset");
    FAIL() << "accepted";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::usage);
    EXPECT_NE(error.details().hint.find("'marketing'"), std::string::npos) << error.details().hint;
  }
}

}  // namespace
}  // namespace dfcl::simulate
