// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/core/parallel.h"

namespace dfcl::core {
namespace {

TEST(ThreadPool, RunsEveryIndexOnce) {
  for (const int threads : {1, 2, 8}) {
    ThreadPool pool(threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<std::atomic<int>> seen(101);
      pool.run(seen.size(), [&](std::size_t index) { ++seen[index]; });
      for (const auto& count : seen) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, KeepsAsManyThreadsAsItIsAskedTo) {
  ThreadPool pool(8);
  for (const int threads : {9, 3, 1}) {
    pool.keep(threads);
    EXPECT_EQ(pool.threads(), std::min(threads, 8));
    std::vector<std::atomic<int>> seen(101);
    pool.run(seen.size(), [&](std::size_t index) { ++seen[index]; });
    for (const auto& count : seen) EXPECT_EQ(count, 1);
  }
}

TEST(ThreadPool, ThrowsTheFailureOfTheSmallestIndex) {
  ThreadPool pool(8);
  for (int repeat = 0; repeat < 50; ++repeat) {
    try {
      pool.run(1000, [](std::size_t index) {
        if (index % 7 == 3) throw std::runtime_error(std::to_string(index));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "3");
    }
  }
}

TEST(ThreadPool, RunsSeriallyInsideABody) {
  ThreadPool pool(4);
  std::atomic<int> total{0};
  pool.run(8, [&](std::size_t) { pool.run(8, [&](std::size_t) { ++total; }); });
  EXPECT_EQ(total, 64);
}

TEST(SumChunks, GivesTheSameBitsForAnyNumberOfThreads) {
  std::vector<double> values(100'001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0 / static_cast<double>(i + 1);
  std::vector<double> sums;
  for (const int threads : {1, 2, 8}) {
    RunContext context(threads);
    sums.push_back(sum_chunks(
        context, values.size(), 1000, 0.0,
        [&](std::size_t begin, std::size_t end) { return std::accumulate(&values[begin], values.data() + end, 0.0); },
        [](double& total, double part) { total += part; }));
  }
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(sums[0], sums[2]);
}

TEST(OrderedPipeline, ConsumesInTheOrderOfProduction) {
  for (const int threads : {1, 2, 8}) {
    RunContext context(threads);
    int produced = 0;
    std::vector<int> consumed;
    ordered_pipeline(
        context, [&]() -> std::optional<int> { return produced < 500 ? std::optional(produced++) : std::nullopt; },
        [](int item) { return item * 2; }, [&](int result) { consumed.push_back(result); });
    ASSERT_EQ(consumed.size(), 500u);
    for (int i = 0; i < 500; ++i) EXPECT_EQ(consumed[static_cast<std::size_t>(i)], 2 * i);
  }
}

TEST(OrderedPipeline, ThrowsTheEarliestFailureAndConsumesNothingAfterIt) {
  for (const int threads : {1, 2, 8}) {
    RunContext context(threads);
    int produced = 0;
    int consumed = 0;
    try {
      ordered_pipeline(
          context, [&]() -> std::optional<int> { return produced++; },
          [](int item) {
            if (item >= 40) throw std::runtime_error(std::to_string(item));
            return item;
          },
          [&](int) { ++consumed; });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "40");
    }
    EXPECT_EQ(consumed, 40);
  }
}

TEST(OrderedPipeline, ReportsAFailureOfTheProducer) {
  RunContext context(4);
  int produced = 0;
  int consumed = 0;
  const auto produce = [&]() -> std::optional<int> {
    if (produced == 10) throw std::runtime_error("source");
    return produced++;
  };
  EXPECT_THROW(ordered_pipeline(
                   context, produce, [](int item) { return item; }, [&](int) { ++consumed; }),
               std::runtime_error);
  EXPECT_EQ(consumed, 10);
}

TEST(RunContext, StopsWhenCancelled) {
  std::atomic<bool> cancel{true};
  RunContext context(2, 0, nullptr, &cancel);
  try {
    for_each_chunk(context, 10, 1, [](std::size_t, std::size_t, std::size_t) {});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  }
}

}  // namespace
}  // namespace dfcl::core
