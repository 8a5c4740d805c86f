// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/side_by_side.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "dfcl/core/error.h"

namespace dfcl::core {
namespace {

class Told final : public ProgressSink {
 public:
  void progress(std::string_view, std::uint64_t, std::uint64_t, std::string_view) override {}
  void finished(std::string_view) override {}
  void warning(std::string_view text) override { list.emplace_back(text); }
  std::vector<std::string> list;
};

TEST(SideBySide, OneAtATimeJobsGetTheContextItself) {
  RunContext context(1);
  std::vector<std::size_t> seen;
  run_side_by_side(context, 3, [&](std::size_t index, RunContext& own) {
    EXPECT_EQ(&own, &context);
    seen.push_back(index);
  });
  EXPECT_EQ(seen, (std::vector<std::size_t>{0, 1, 2}));
}

// Each waits until all three have come.
TEST(SideBySide, JobsRunAtTheSameTimeWithTheirShareOfThreadsAndDevice) {
  RunContext context(6, 17);
  context.device.fits_at_once = 6;
  context.scratch_folder = "folder";
  std::mutex mutex;
  std::condition_variable all_here;
  int here = 0;
  run_side_by_side(context, 3, [&](std::size_t, RunContext& own) {
    std::unique_lock lock(mutex);
    ++here;
    all_here.notify_all();
    all_here.wait(lock, [&] { return here == 3; });
    EXPECT_NE(&own, &context);
    EXPECT_EQ(own.pool.threads(), 2);
    EXPECT_EQ(own.device.fits_at_once, 2u);
    EXPECT_EQ(own.seed, 17u);
    EXPECT_EQ(own.scratch_folder, "folder");
  });
  EXPECT_EQ(here, 3);
  EXPECT_EQ(at_a_time(context, 2), 2u);
  EXPECT_EQ(at_a_time(context, 9), 6u);
}

TEST(SideBySide, WarningsAreToldInTheOrderOfTheJobs) {
  Told told;
  RunContext context(2, 0, &told);
  context.device.fits_at_once = 4;
  std::mutex mutex;
  std::condition_variable turn;
  std::size_t left = 4;
  run_side_by_side(context, 4, [&](std::size_t index, RunContext& own) {  // the last warns first
    std::unique_lock lock(mutex);
    turn.wait(lock, [&] { return left == index + 1; });
    own.warn("job " + std::to_string(index));
    --left;
    turn.notify_all();
  });
  EXPECT_EQ(told.list, (std::vector<std::string>{"job 0", "job 1", "job 2", "job 3"}));
}

TEST(SideBySide, TheFailureOfTheFirstJobIsThrownAndNoneStartsAfterIt) {
  RunContext context(2);
  context.device.fits_at_once = 2;
  std::mutex mutex;
  std::condition_variable second_failed;
  bool failed = false;
  std::vector<bool> ran(8);
  try {
    run_side_by_side(context, 8, [&](std::size_t index, RunContext&) {
      std::unique_lock lock(mutex);
      ran[index] = true;
      if (index == 1) {
        failed = true;
        second_failed.notify_all();
        throw std::runtime_error("second");
      }
      second_failed.wait(lock, [&] { return failed; });
      throw std::runtime_error("first");
    });
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "first");
  }
  EXPECT_TRUE(ran[0] && ran[1]);
  for (std::size_t index = 2; index < 8; ++index) EXPECT_FALSE(ran[index]);
}

TEST(SideBySide, AllSeeThatTheUserAskedToStop) {
  const std::atomic<bool> cancel = true;
  RunContext context(2, 0, nullptr, &cancel);
  context.device.fits_at_once = 2;
  EXPECT_THROW(run_side_by_side(context, 2, [](std::size_t, RunContext& own) { own.check_cancelled(); }), Error);
}

}  // namespace
}  // namespace dfcl::core
