// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/id_match.h"

#include <gtest/gtest.h>

#include "dfcl/core/error.h"

namespace dfcl::data {
namespace {

using Numbers = std::vector<std::int64_t>;
using Rows = std::vector<std::size_t>;

TEST(MatchIds, FindsUnitsInAnyOrderAndAmongOthers) {
  EXPECT_EQ(match_ids(Numbers{3, 1, 2}, Numbers{3, 1, 2}, "t"), (Rows{0, 1, 2}));
  EXPECT_EQ(match_ids(Numbers{3, 1, 2}, Numbers{9, 2, 3, 1}, "t"), (Rows{2, 3, 1}));
  TextColumn texts;
  for (const char* text : {"2", "1"}) texts.push_back(text);
  EXPECT_EQ(match_ids(Numbers{1, 2}, texts, "t"), (Rows{1, 0}));
}

TEST(MatchIds, SaysHowManyUnitsAreMissingOrDouble) {
  try {
    match_ids(Numbers{1, 2, 3}, Numbers{3, 4}, "mask.csv");
    FAIL() << "nothing was thrown";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.details().what, "2 of 3 units are not there");
    EXPECT_EQ(error.details().found, "no row for id '1'");
  }
  EXPECT_THROW(match_ids(Numbers{1, 2}, Numbers{2, 1, 1}, "t"), core::Error);
}

}  // namespace
}  // namespace dfcl::data
