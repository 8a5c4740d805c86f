// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/error.h"

#include <gtest/gtest.h>

#include <vector>

#include "dfcl/core/suggest.h"

namespace dfcl::core {
namespace {

TEST(Error, SaysWhereWhatFoundExpectedAndHint) {
  const Error error({.kind = ErrorKind::data,
                     .what = "unknown arm",
                     .where = "trial.csv:1042, column 'arm'",
                     .found = "'25'",
                     .expected = "one of 0, 5, 10",
                     .hint = "add it to [arms] order"});
  EXPECT_STREQ(error.what(),
               "trial.csv:1042, column 'arm': unknown arm: found '25', expected one of 0, 5, 10\n"
               "hint: add it to [arms] order");
  EXPECT_EQ(static_cast<int>(error.kind()), 3);
}

TEST(Error, ShowsBytesOfAnInputWithoutHarm) {
  const Error error({.kind = ErrorKind::data, .what = "bad text", .found = "'\x1b[2J\xff\xc3\xa9\xc3'"});
  EXPECT_STREQ(error.what(), "bad text: found '?[2J?\xc3\xa9?'");
}

TEST(Suggest, NamesTheNearestCandidateOrListsThem) {
  const std::vector<std::string> names = {"revenue", "cost", "arm"};
  EXPECT_EQ(suggest("revenu", names), "did you mean 'revenue'?");
  EXPECT_EQ(suggest("Cots", names), "did you mean 'cost'?");
  EXPECT_EQ(suggest("cosst", names), "did you mean 'cost'?");
  EXPECT_EQ(suggest("zzzzzz", names), "one of: revenue, cost, arm");
}

}  // namespace
}  // namespace dfcl::core
