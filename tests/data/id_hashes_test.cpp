// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/id_hashes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace dfcl::data {
namespace {

void expect_hashes_of(const Ids& ids) {
  for (const std::size_t first : {std::size_t{0}, ids.size() / 3}) {
    std::vector<std::uint64_t> hashes(ids.size() - first);
    fill_hashes(ids, first, hashes, 7);
    for (std::size_t i = 0; i < hashes.size(); ++i) ASSERT_EQ(hashes[i], ids.hash(first + i, 7)) << ids.text(first + i);
  }
}

TEST(IdHashes, AreThoseOfSingleIds) {
  expect_hashes_of(RowNumbers{1, 12'000});
  expect_hashes_of(RowNumbers{99'999'990, 40});
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  expect_hashes_of(
      std::vector<std::int64_t>{8, 9, 10, 11, 99, 100, 7, 7, 8, -2, -1, 0, 1, kMost - 1, kMost, kLeast, 0});
  expect_hashes_of(std::vector<std::uint64_t>{1, 2, std::numeric_limits<std::uint64_t>::max()});
  TextColumn texts;
  for (const char* text : {"007", "8", "9", "ten"}) texts.push_back(text);
  expect_hashes_of(texts);
}

}  // namespace
}  // namespace dfcl::data
