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

TEST(Error, ShowsNoCharactersThatAreNone) {
  // A longer form of '/', half of a UTF-16 pair, and a character beyond the last.
  EXPECT_STREQ(Error({.what = "\xe0\x80\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xf0\x9f\x8d\x8e"}).what(),
               "??? ??? ???? \xf0\x9f\x8d\x8e");
}

TEST(Error, CutsWhatAnInputMakesTooLong) {
  const Error error({.what = "bad", .found = "a" + std::string(1'000'000, '\xc3')});
  EXPECT_LT(std::string(error.what()).size(), 1000u);
  std::string text = "a";  // the cut would fall into a character
  for (int i = 0; i < 1000; ++i) text += "\xc3\xa9";
  EXPECT_EQ(std::string(Error({.what = text}).what()).substr(597), "\xc3\xa9...");
}

TEST(Suggest, IsQuickForVeryLongNames) {
  const std::vector<std::string> names = {std::string(1'000'000, 'a'), "cost"};
  EXPECT_EQ(suggest("cots", names), "did you mean 'cost'?");
  EXPECT_EQ(nearest_name(std::string(1'000'000, 'b'), names), "");
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
