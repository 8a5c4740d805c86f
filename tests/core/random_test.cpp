// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "dfcl/core/hash.h"

namespace dfcl::core {
namespace {

constexpr std::uint32_t kTest = stream_purpose("test");

struct Moments {
  double mean;
  double variance;
};

Moments moments_of(const std::function<double(RandomStream&)>& draw, int count = 200'000) {
  double sum = 0.0;
  double squares = 0.0;
  RandomStream stream(7, kTest, 0);
  for (int i = 0; i < count; ++i) {
    const double value = draw(stream);
    sum += value;
    squares += value * value;
  }
  const double mean = sum / count;
  return {mean, squares / count - mean * mean};
}

TEST(RandomStream, MatchesThePublishedKnownAnswers) {
  // Random123's kat_vectors: philox4x32 10, zero counter and key.
  RandomStream stream(0, 0, 0);
  EXPECT_EQ(stream.next_u32(), 0x6627e8d5u);
  EXPECT_EQ(stream.next_u32(), 0xe169c58du);
  EXPECT_EQ(stream.next_u32(), 0xbc57ac4cu);
  EXPECT_EQ(stream.next_u32(), 0x9b00dbd8u);
}

TEST(RandomStream, DiffersBySeedPurposeAndIndex) {
  const std::uint64_t first = RandomStream(1, kTest, 5).next_u64();
  EXPECT_EQ(first, RandomStream(1, kTest, 5).next_u64());
  EXPECT_NE(first, RandomStream(2, kTest, 5).next_u64());
  EXPECT_NE(first, RandomStream(1, stream_purpose("other"), 5).next_u64());
  EXPECT_NE(first, RandomStream(1, kTest, 6).next_u64());
}

TEST(RandomStream, HasTheMomentsOfItsDistributions) {
  const auto near = [](Moments moments, double mean, double variance) {
    EXPECT_NEAR(moments.mean, mean, 5.0 * std::sqrt(variance / 200'000));
    EXPECT_NEAR(moments.variance, variance, 0.05 * variance);
  };
  near(moments_of([](RandomStream& s) { return s.uniform(); }), 0.5, 1.0 / 12.0);
  near(moments_of([](RandomStream& s) { return s.normal(); }), 0.0, 1.0);
  near(moments_of([](RandomStream& s) { return s.exponential(); }), 1.0, 1.0);
  near(moments_of([](RandomStream& s) { return s.gamma(0.4); }), 0.4, 0.4);
  near(moments_of([](RandomStream& s) { return s.gamma(7.5); }), 7.5, 7.5);
  for (const double mean : {0.01, 3.0, 29.0, 31.0, 400.0}) {
    near(moments_of([=](RandomStream& s) { return static_cast<double>(s.poisson(mean)); }), mean, mean);
  }
}

TEST(Hash, SpreadsSimilarTextsEvenly) {
  int low = 0;
  for (int i = 0; i < 100'000; ++i) low += hash_fraction(hash_text(std::to_string(i))) < 0.3 ? 1 : 0;
  EXPECT_NEAR(low, 30'000, 5 * std::sqrt(100'000 * 0.21));
}

}  // namespace
}  // namespace dfcl::core
