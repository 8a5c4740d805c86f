// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/table_writer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tables/batch_reader.h"
#include "dfcl/io/tables/table_summary_reader.h"
#include "temporary_folder.h"

namespace dfcl::io {
namespace {

using data::ColumnType;

const std::vector<data::ColumnInfo> kColumns = {
    {"a", ColumnType::float32}, {"b", ColumnType::float64}, {"n", ColumnType::int64}, {"t", ColumnType::text}};

data::Batch batch_of(float first) {
  data::Batch batch;
  batch.num_rows = 3;
  data::TextColumn texts;
  for (const char* text : {"x", "", "quoted \"y\", and more"}) texts.push_back(text);
  batch.columns = {std::vector<float>{first, std::nanf(""), 0.1f}, std::vector<double>{0.1, 2.5, std::nan("")},
                   std::vector<std::int64_t>{1, -2, 9'007'199'254'740'993}, texts};
  return batch;
}

class TableFormats : public testing::TestWithParam<const char*> {};

TEST_P(TableFormats, ReadBackWhatWasWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.file(GetParam());
  TableWriter writer(path, kColumns, {"plan", "1.2", "allocate", {{"budget", "3"}}});
  writer.write(batch_of(1.0f));
  writer.write(batch_of(2.0f));
  EXPECT_FALSE(std::filesystem::exists(path)) << "nothing may stand under the name before commit";
  writer.commit();
  const std::string beside = std::string(GetParam()) + ".meta.json";
  const bool is_text = std::string_view(GetParam()).starts_with("t.csv");
  EXPECT_TRUE(is_text ? folder.holds_only({GetParam(), beside}) : folder.holds_only({GetParam()}));

  core::RunContext context(2);
  const std::vector<ColumnType> types = {ColumnType::float32, ColumnType::float64, ColumnType::int64, ColumnType::text};
  const auto source = open_batches(path, {"a", "b", "n", "t"}, types, context);
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<float> a;
    std::vector<std::int64_t> n;
    std::vector<std::string> t;
    data::Batch batch;
    while (source->next(batch)) {
      for (const float value : std::get<std::vector<float>>(batch.columns[0])) a.push_back(value);
      for (const std::int64_t value : std::get<std::vector<std::int64_t>>(batch.columns[2])) n.push_back(value);
      for (std::size_t row = 0; row < batch.num_rows; ++row)
        t.emplace_back(std::get<data::TextColumn>(batch.columns[3])[row]);
    }
    ASSERT_EQ(a.size(), 6u);
    EXPECT_EQ(a[3], 2.0f);
    EXPECT_TRUE(std::isnan(a[1]));
    EXPECT_EQ(a[2], 0.1f);
    EXPECT_EQ(n[5], 9'007'199'254'740'993);
    EXPECT_EQ(t[2], "quoted \"y\", and more");
    EXPECT_EQ(t[1], "");
    source->rewind();
  }
}

INSTANTIATE_TEST_SUITE_P(All, TableFormats, testing::Values("t.csv", "t.csv.gz", "t.parquet", "t.arrow"));

TEST(TableWriter, LeavesNothingWithoutCommitAndKeepsWhatWasThere) {
  const TemporaryFolder folder;
  folder.write("t.parquet", "before");
  {
    TableWriter writer(folder.file("t.parquet"), kColumns, {});
    writer.write(batch_of(1.0f));
  }
  EXPECT_TRUE(folder.holds_only({"t.parquet"}));
  EXPECT_EQ(read_text_file(folder.file("t.parquet"), 100), "before");
}

TEST(TableSummary, SaysWhatAFileIsAndHowItWasMade) {
  const TemporaryFolder folder;
  TableWriter writer(folder.file("t.parquet"), kColumns, {"plan", "1.2", "allocate", {{"budget", "3"}}});
  writer.write(batch_of(1.0f));
  writer.write(batch_of(7.0f));
  writer.commit();
  core::RunContext context(2);
  const data::TableSummary summary = summarize_table(folder.file("t.parquet"), context);
  EXPECT_EQ(summary.kind, "plan");
  EXPECT_EQ(summary.provenance.options.front().second, "3");
  EXPECT_EQ(summary.rows, 6);
  EXPECT_EQ(summary.columns[0].missing, 2);
  EXPECT_EQ(summary.columns[0].high, 7.0);
  EXPECT_TRUE(summary.columns[2].is_integer);
  EXPECT_EQ(summary.columns[3].distinct, 2u);
  EXPECT_EQ(summary.columns[3].missing, 2);
}

TEST(BatchReader, SuggestsTheColumnThatWasMeant) {
  const TemporaryFolder folder;
  const std::string path = folder.write("t.csv", "revenue_0,cost_0\n1,2\n");
  core::RunContext context(1);
  try {
    open_batches(path, {"revenue_o"}, {}, context);
    FAIL() << "nothing was thrown";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.details().hint, "did you mean 'revenue_0'?");
  }
}

}  // namespace
}  // namespace dfcl::io
