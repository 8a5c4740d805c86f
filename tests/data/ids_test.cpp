// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/ids.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace dfcl::data {
namespace {

TextColumn texts_of(std::initializer_list<const char*> texts) {
  TextColumn column;
  for (const char* text : texts) column.push_back(text);
  return column;
}

TEST(Ids, HashTheSameWhetherNumbersTextsOrRowNumbers) {
  const Ids numbers(std::vector<std::int64_t>{17, -3});
  const Ids texts(texts_of({"17", "-3"}));
  const Ids rows(RowNumbers{17, 1});
  EXPECT_EQ(numbers.hash(0, 5), texts.hash(0, 5));
  EXPECT_EQ(numbers.hash(1, 5), texts.hash(1, 5));
  EXPECT_EQ(numbers.hash(0, 5), rows.hash(0, 5));
  EXPECT_NE(numbers.hash(0, 5), numbers.hash(0, 6));
  EXPECT_EQ(numbers.text(1), "-3");
}

TEST(Ids, AppendKeepsEveryName) {
  Ids ids;
  ids.append(Ids(std::vector<std::int64_t>{1, 2}));
  ids.append(Ids(std::vector<std::int64_t>{3}));
  EXPECT_EQ(ids.size(), 3u);
  ids.append(Ids(texts_of({"a", ""})));
  ASSERT_EQ(ids.size(), 5u);
  EXPECT_EQ(ids.text(2), "3");
  EXPECT_EQ(ids.text(3), "a");
  EXPECT_EQ(ids.text(4), "");
}

TEST(Ids, RowNumbersWithAGapBecomeNumbers) {
  Ids ids(RowNumbers{1, 2});
  ids.append(RowNumbers{3, 1});
  EXPECT_TRUE(ids.are_row_numbers());
  ids.append(std::vector<std::int64_t>{5});
  ids.append(RowNumbers{6, 1});
  ASSERT_EQ(ids.size(), 5u);
  EXPECT_EQ(ids.text(2), "3");
  EXPECT_EQ(ids.text(3), "5");
  EXPECT_EQ(ids.text(4), "6");
}

constexpr std::uint64_t kLargest = 18446744073709551615u;
constexpr std::uint64_t kBeyondSigned = std::uint64_t{1} << 63;

TEST(Ids, UnsignedNumbersAreExact) {
  const Ids ids(std::vector<std::uint64_t>{kBeyondSigned, kBeyondSigned + 1, kLargest, 17});
  EXPECT_EQ(ids.type(), ColumnType::uint64);
  EXPECT_EQ(ids.text(0), "9223372036854775808");
  EXPECT_EQ(ids.text(2), "18446744073709551615");
  EXPECT_NE(ids.hash(0), ids.hash(1));
  EXPECT_EQ(ids.hash(2), Ids(texts_of({"18446744073709551615"})).hash(0));
  EXPECT_EQ(ids.hash(3), Ids(std::vector<std::int64_t>{17}).hash(0));
}

TEST(Ids, AppendTakesTheTypeThatHoldsAllOfThem) {
  const Ids small(std::vector<std::int64_t>{3, 4});
  const Ids negative(std::vector<std::int64_t>{-1});
  const Ids large(std::vector<std::uint64_t>{kLargest});
  const auto joined = [](std::initializer_list<const Ids*> parts) {
    Ids all;
    for (const Ids* part : parts) all.append(*part);
    return all;
  };
  for (const Ids& ids : {joined({&small, &large}), joined({&large, &small})}) {
    EXPECT_EQ(ids.type(), ColumnType::uint64);
    EXPECT_EQ(ids.size(), 3u);
  }
  EXPECT_EQ(joined({&small, &large}).text(2), "18446744073709551615");
  EXPECT_EQ(joined({&large, &small}).text(1), "3");
  const Ids mixed = joined({&small, &large, &negative});
  EXPECT_EQ(mixed.type(), ColumnType::text);
  EXPECT_EQ(mixed.text(0), "3");
  EXPECT_EQ(mixed.text(2), "18446744073709551615");
  EXPECT_EQ(mixed.text(3), "-1");
  EXPECT_EQ(joined({&negative, &large}).text(1), "18446744073709551615");
}

TEST(Ids, KnowWhetherTheyAreNamesOrPlaces) {
  Ids ids(RowNumbers{1, 2});
  ids.append(Ids::of_rows(std::vector<std::int64_t>{4}));
  EXPECT_TRUE(ids.are_row_numbers());
  EXPECT_TRUE(ids.chosen(std::vector<std::size_t>{0, 2}).are_row_numbers());
  EXPECT_EQ(ids.chosen(std::vector<std::size_t>{2}).text(0), "4");
  ids.append(Ids(std::vector<std::int64_t>{5}));
  EXPECT_FALSE(ids.are_row_numbers());
  EXPECT_FALSE(Ids(std::vector<std::uint64_t>{1, kLargest}).chosen(std::vector<std::size_t>{1}).are_row_numbers());
}

TEST(Ids, AColumnOfNumbersTakesWhatItHoldsAndNamesTheRest) {
  ColumnValues column = empty_values(ColumnType::int64);
  EXPECT_FALSE(append_ids(Ids(texts_of({"12", "-3"})), 0, 2, column));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(column), (std::vector<std::int64_t>{12, -3}));
  EXPECT_EQ(append_ids(Ids(texts_of({"4", "007"})), 0, 2, column), 1u);
  EXPECT_EQ(append_ids(Ids(std::vector<std::uint64_t>{1, kLargest}), 0, 2, column), 1u);
  ColumnValues large = empty_values(ColumnType::uint64);
  EXPECT_FALSE(append_ids(Ids(std::vector<std::uint64_t>{kLargest}), 0, 1, large));
  EXPECT_EQ(append_ids(Ids(std::vector<std::int64_t>{5, -5}), 0, 2, large), 1u);
}

TEST(Ids, KeptInFilesAreTheSame) {
  const std::string folder = std::filesystem::temp_directory_path().string();
  Ids heap;
  Ids files = Ids::in_folder(folder);
  for (const Ids& more : {Ids(RowNumbers{1, 2}), Ids(RowNumbers{7, 3}), Ids(std::vector<std::int64_t>{-5}),
                          Ids(std::vector<std::uint64_t>{kLargest}),
                          Ids(texts_of({"a", "", "long enough to need memory of its own"})), Ids(RowNumbers{9, 1})}) {
    heap.append(more);
    files.append(more);
    EXPECT_EQ(heap, files);
  }
  EXPECT_EQ(files.text(2), "7");
  EXPECT_EQ(files.text(6), "18446744073709551615");
  EXPECT_EQ(files.text(7), "a");
  EXPECT_EQ(Ids(files), heap);
}

}  // namespace
}  // namespace dfcl::data
