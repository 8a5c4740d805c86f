// SPDX-License-Identifier: Apache-2.0
//
// Ids are exact whatever file they come from, and a unit without one is refused with its place.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "dfcl/core/error.h"
#include "dfcl/io/predictions/plan_file.h"
#include "dfcl/io/predictions/prediction_file.h"
#include "dfcl/io/predictions/prediction_stream.h"
#include "dfcl/io/tables/table_writer.h"
#include "temporary_folder.h"

namespace dfcl::io {
namespace {

using data::ColumnType;

constexpr std::uint64_t kBeyondSigned = std::uint64_t{1} << 63;

data::ColumnValues ones(std::size_t count) { return std::vector<float>(count, 1.0f); }

// Predictions of two arms for units of these ids.
std::string write_predictions(const std::string& path, ColumnType type, const data::ColumnValues& ids,
                              std::size_t count) {
  TableWriter writer(path,
                     {{"id", type},
                      {"revenue_a", ColumnType::float32},
                      {"revenue_b", ColumnType::float32},
                      {"cost_a", ColumnType::float32},
                      {"cost_b", ColumnType::float32}},
                     {});
  writer.write({count, {ids, ones(count), ones(count), ones(count), ones(count)}});
  writer.commit();
  return path;
}

data::Ids read(const std::string& path) {
  core::RunContext context(1);
  return read_prediction(path, "", context).prediction.ids;
}

std::vector<std::string> texts_of(const data::Ids& ids) {
  std::vector<std::string> texts;
  for (std::size_t unit = 0; unit < ids.size(); ++unit) texts.push_back(ids.text(unit));
  return texts;
}

// Of the first row that cannot be used, by both ways of reading.
core::ErrorDetails failure_of(const std::string& path) {
  core::RunContext context(1);
  core::ErrorDetails whole, streamed;
  try {
    (void)read(path);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const core::Error& error) {
    whole = error.details();
  }
  try {
    const auto source = open_prediction(path, {"a", "b"}, context);
    data::Batch batch;
    while (source->next(batch)) continue;
    ADD_FAILURE() << "nothing was thrown";
  } catch (const core::Error& error) {
    streamed = error.details();
  }
  EXPECT_EQ(whole.where, streamed.where);
  EXPECT_EQ(whole.what, streamed.what);
  return whole;
}

TEST(IdValues, UnsignedNumbersBeyondTheSignedOnesStayApart) {
  const TemporaryFolder folder;
  std::vector<std::uint64_t> ids;
  for (std::uint64_t i = 0; i < 2000; ++i) ids.push_back(kBeyondSigned + i);
  ids.push_back(18446744073709551615u);
  for (const char* name : {"p.parquet", "p.arrow", "p.csv", "p.csv.gz"}) {
    const data::Ids found = read(write_predictions(folder.file(name), ColumnType::uint64, ids, ids.size()));
    EXPECT_EQ(found.type(), ColumnType::uint64) << name;
    const auto texts = texts_of(found);
    EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), ids.size()) << name;
    EXPECT_EQ(texts[1], "9223372036854775809") << name;
    EXPECT_EQ(texts.back(), "18446744073709551615") << name;
    core::RunContext context(1);
    const auto source = open_prediction(folder.file(name), {"a", "b"}, context);
    data::Batch batch;
    ASSERT_TRUE(source->next(batch));
    EXPECT_EQ(std::get<std::vector<std::uint64_t>>(batch.columns.back()), ids) << name;
  }
}

TEST(IdValues, LettersOfATypedFileStayLetters) {
  const TemporaryFolder folder;
  data::TextColumn texts;
  for (const char* text : {"1", "2"}) texts.push_back(text);
  EXPECT_EQ(read(write_predictions(folder.file("p.parquet"), ColumnType::text, texts, 2)).type(), ColumnType::text);
  EXPECT_EQ(read(write_predictions(folder.file("p.csv"), ColumnType::text, texts, 2)).type(), ColumnType::int64);
}

TEST(IdValues, CsvHoldsWhatItSays) {
  const TemporaryFolder folder;
  const auto ids_in = [&](const std::string& a, const std::string& b) {
    return read(
        folder.write("p.csv", fmt::format("id,revenue_a,revenue_b,cost_a,cost_b\n{},1,1,1,1\n{},1,1,1,1\n", a, b)));
  };
  EXPECT_EQ(ids_in("-9223372036854775808", "9223372036854775807").type(), ColumnType::int64);
  EXPECT_EQ(ids_in("0", "9223372036854775808").type(), ColumnType::uint64);
  for (const auto& [a, b] : {std::pair{"-1", "9223372036854775808"}, std::pair{"1", "007"}, std::pair{"1", "1.0"},
                             std::pair{"123456789012345678901234567890", "2"}, std::pair{"-0", "0"}}) {
    const data::Ids ids = ids_in(a, b);
    EXPECT_EQ(ids.type(), ColumnType::text) << a;
    EXPECT_EQ(texts_of(ids), (std::vector<std::string>{a, b}));
  }
}

TEST(IdValues, FilesOfDifferentKindsAreJoinedExactly) {
  const TemporaryFolder folder;
  write_predictions(folder.file("1.parquet"), ColumnType::int64, std::vector<std::int64_t>{5, 6}, 2);
  write_predictions(folder.file("2.parquet"), ColumnType::uint64, std::vector<std::uint64_t>{kBeyondSigned}, 1);
  EXPECT_EQ(read(folder.file("")).type(), ColumnType::uint64);
  write_predictions(folder.file("3.csv"), ColumnType::int64, std::vector<std::int64_t>{-7}, 1);
  EXPECT_EQ(texts_of(read(folder.file(""))), (std::vector<std::string>{"5", "6", "9223372036854775808", "-7"}));
  folder.write("4.csv", "revenue_a,revenue_b,cost_a,cost_b\n1,1,1,1\n");
  EXPECT_THROW((void)read(folder.file("")), core::Error) << "a file without ids among files with them";
}

TEST(IdValues, FloatsAreIdsWhereTheyAreExactWholeNumbers) {
  const TemporaryFolder folder;
  const auto path = [&](double last) {
    return write_predictions(folder.file("p.parquet"), ColumnType::float64,
                             std::vector<double>{17.0, 1000000000000000.0, last}, 3);
  };
  EXPECT_EQ(texts_of(read(path(9007199254740992.0))),
            (std::vector<std::string>{"17", "1000000000000000", "9007199254740992"}));
  for (const double bad : {0.5, 9007199254740994.0, 1e300, -1e18}) {
    const core::ErrorDetails failure = failure_of(path(bad));
    EXPECT_EQ(failure.where, folder.file("p.parquet") + ", row 3, column 'id'") << bad;
    EXPECT_EQ(failure.kind, core::ErrorKind::data);
  }
}

TEST(IdValues, AMissingIdIsRefusedWithItsPlace) {
  const TemporaryFolder folder;
  EXPECT_EQ(failure_of(write_predictions(folder.file("p.parquet"), ColumnType::float64,
                                         std::vector<double>{1.0, std::nan(""), 3.0}, 3))
                .where,
            folder.file("p.parquet") + ", row 2, column 'id'");
  data::TextColumn texts;
  for (const char* text : {"x", "", "z"}) texts.push_back(text);
  EXPECT_EQ(failure_of(write_predictions(folder.file("p.csv"), ColumnType::text, texts, 3)).where,
            folder.file("p.csv") + ":3, column 'id'");
  core::RunContext context(1);
  const std::string plan = folder.write("plan.csv", "id,arm,revenue,cost\n1,a,1,1\n,a,1,1\n");
  try {
    (void)read_plan(plan, context);
    FAIL() << "nothing was thrown";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.details().where, plan + ":3, column 'id'");
  }
}

TEST(IdValues, TooManyArmsNameTheLimit) {
  const TemporaryFolder folder;
  std::string header = "id", row = "1";
  for (int arm = 0; arm < 256; ++arm) {
    header += fmt::format(",revenue_{0},cost_{0}", arm);
    row += ",1,1";
  }
  try {
    (void)read(folder.write("p.csv", header + "\n" + row + "\n"));
    FAIL() << "nothing was thrown";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.details().found, "256");
    EXPECT_EQ(error.details().expected, "at most 255");
  }
}

}  // namespace
}  // namespace dfcl::io
