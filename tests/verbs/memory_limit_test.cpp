// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/memory_limit.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dfcl/core/error.h"
#include "tests/warnings.h"

namespace dfcl::verbs {
namespace {

TEST(MemoryLimit, ReadsSizes) {
  EXPECT_EQ(parse_memory("800000000"), 8e8);
  EXPECT_EQ(parse_memory("500MB"), 5e8);
  EXPECT_EQ(parse_memory("2GB"), 2e9);
  EXPECT_EQ(parse_memory("2 gb"), 2e9);
  EXPECT_EQ(parse_memory("1.5GiB"), 1.5 * 1024 * 1024 * 1024);
  EXPECT_EQ(parse_memory("64KiB"), 65536.0);
  EXPECT_EQ(parse_memory("1TB"), 1e12);
}

TEST(MemoryLimit, RefusesWhatIsNoSize) {
  for (const std::string text : {"", " ", "GB", "2 apples", "2G", "2GBs", "two", "-1GB", "0", "0MB", "0.1B", "nan",
                                 "inf", "1e5", "1e400GB", "99999999999TB", "+2GB", "0x10", "2,5GB"}) {
    try {
      (void)parse_memory(text);
      ADD_FAILURE() << "'" << text << "' was taken";
    } catch (const core::Error& error) {
      EXPECT_EQ(error.kind(), core::ErrorKind::usage);
      EXPECT_EQ(error.details().field, "memory");
    }
  }
}

MemoryWays ways() {
  return {.plain = [](int threads) { return 1e9 + 100e6 * (threads - 1); },
          .saving = [](int threads) { return 200e6 + 50e6 * (threads - 1); },
          .saving_words = "streams",
          .help = "wait"};
}

TEST(MemoryLimit, LeavesARunAloneThatFits) {
  Warnings heard;
  core::RunContext context(4, 0, &heard);
  EXPECT_FALSE(keep_within("1.3GB", ways(), context));
  EXPECT_EQ(context.pool.threads(), 4);
  EXPECT_TRUE(heard.list.empty());
}

TEST(MemoryLimit, TakesTheSavingWayThenFewerThreads) {
  Warnings heard;
  core::RunContext context(4, 0, &heard);
  EXPECT_TRUE(keep_within("1.2GB", ways(), context));
  EXPECT_EQ(context.pool.threads(), 4);
  EXPECT_TRUE(keep_within("310MB", ways(), context));
  EXPECT_EQ(context.pool.threads(), 3);
  ASSERT_EQ(heard.list.size(), 2u);
  EXPECT_TRUE(heard.list[0].ends_with(": streams")) << heard.list[0];
  EXPECT_TRUE(heard.list[1].ends_with(": streams, uses 3 of 4 threads")) << heard.list[1];
}

TEST(MemoryLimit, UsesFewerThreadsWhereThereIsNoOtherWay) {
  Warnings heard;
  core::RunContext context(4, 0, &heard);
  EXPECT_FALSE(keep_within("1.15GB", {.plain = ways().plain, .help = "wait"}, context));
  EXPECT_EQ(context.pool.threads(), 2);
  ASSERT_EQ(heard.list.size(), 1u);
  EXPECT_TRUE(heard.list[0].ends_with(": uses 2 of 4 threads")) << heard.list[0];
}

TEST(MemoryLimit, UsesFewerThreadsWhereTheOtherWayTakesMore) {
  core::RunContext context(4);
  const MemoryWays small{.plain = ways().saving, .saving = ways().plain, .saving_words = "streams", .help = "wait"};
  EXPECT_FALSE(keep_within("260MB", small, context));
  EXPECT_EQ(context.pool.threads(), 2);
}

TEST(MemoryLimit, RefusesWhatFitsInNoWay) {
  core::RunContext context(4);
  try {
    (void)keep_within("100MB", ways(), context);
    FAIL() << "it was taken";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::usage);
    EXPECT_EQ(error.details().field, "memory");
    EXPECT_NE(error.details().what.find("about 200 MB"), std::string::npos) << error.what();
    EXPECT_NE(error.details().what.find("wait"), std::string::npos) << error.what();
    EXPECT_TRUE(error.details().hint.empty());
  }
}

}  // namespace
}  // namespace dfcl::verbs
