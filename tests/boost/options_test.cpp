// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/options.h"

#include <gtest/gtest.h>

namespace dfcl::boost {
namespace {

TEST(BoostOptions, FewUnitsGetSmallerTreesAndMoreOfThem) {
  const data::Study study;
  const BoostOptions few = boost_options(study, 14'000, 1), some = boost_options(study, 60'000, 1),
                     many = boost_options(study, 240'000, 1);
  EXPECT_LT(few.leaves, many.leaves);
  EXPECT_GT(few.bags, some.bags);
  EXPECT_GT(some.bags, many.bags);
}

TEST(BoostOptions, WhatTheStudySaysHoldsForAnyNumberOfUnits) {
  data::Study study;
  study.boost.leaves = 31;
  study.boost.bags = 3;
  for (const std::size_t num_units : {1'000u, 1'000'000u}) {
    const BoostOptions options = boost_options(study, num_units, 1);
    EXPECT_EQ(options.leaves, 31u);
    EXPECT_EQ(options.bags, 3u);
  }
}

}  // namespace
}  // namespace dfcl::boost
