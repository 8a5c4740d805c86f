// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "dfcl/io/tables/table_sample_reader.h"
#include "dfcl/io/tables/table_summary_reader.h"
#include "temporary_folder.h"

namespace dfcl::io {
namespace {

data::TableSample sample(const std::string& path, int threads, std::size_t most_rows = 1'000'000) {
  core::RunContext context(threads);
  return sample_table(path, summarize_table(path, context), context, 50'000'000, most_rows);
}

TEST(TableSample, HoldsNumbersCodesAndYesNo) {
  const TemporaryFolder folder;
  const data::TableSample found =
      sample(folder.write("t.csv", "x,arm,voted,id\n1.5,a,Yes,100000001\n,b,No,100000002\n-0,a,,7\n1.5,,No,7\n"), 1);
  ASSERT_EQ(found.num_rows, 4u);
  EXPECT_TRUE(found.is_whole);
  const data::SampledColumn& x = found.columns[0];
  EXPECT_TRUE(std::isnan(x.numbers[1]));
  EXPECT_EQ(x.codes, (std::vector<std::uint32_t>{0, data::SampledColumn::kMissing, 1, 0}));
  EXPECT_EQ(x.labels, (std::vector<std::string>{"1.5", "0"}));
  EXPECT_FALSE(found.columns[1].is_number());
  EXPECT_EQ(found.columns[1].labels, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(found.columns[2].numbers[0], 1.0f);
  EXPECT_TRUE(std::isnan(found.columns[2].numbers[2]));
  EXPECT_EQ(found.columns[3].codes, (std::vector<std::uint32_t>{0, 1, 2, 2}));  // exact, unlike the numbers
}

TEST(TableSample, IsTheSameForAnyNumberOfThreadsAndKeepsNeighbours) {
  const TemporaryFolder folder;
  std::string text = "row,pair\n";
  for (int row = 0; row < 400'000; ++row) text += fmt::format("{},{}\n", row, row / 2);
  const std::string path = folder.write("t.csv", text);
  const data::TableSample one = sample(path, 1, 50'000);
  EXPECT_FALSE(one.is_whole);
  EXPECT_NEAR(static_cast<double>(one.num_rows), 50'000.0, 10'000.0);
  for (const int threads : {2, 8}) {
    const data::TableSample other = sample(path, threads, 50'000);
    EXPECT_EQ(other.columns[0].numbers, one.columns[0].numbers);
    EXPECT_EQ(other.columns[1].codes, one.columns[1].codes);
  }
  for (std::size_t row = 0; row + 1 < one.num_rows; row += 2)
    EXPECT_EQ(one.columns[1].codes[row], one.columns[1].codes[row + 1]);
}

}  // namespace
}  // namespace dfcl::io
