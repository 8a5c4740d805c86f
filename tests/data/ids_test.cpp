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

TEST(Ids, KeptInFilesAreTheSame) {
  const std::string folder = std::filesystem::temp_directory_path().string();
  Ids heap;
  Ids files = Ids::in_folder(folder);
  for (const Ids& more : {Ids(RowNumbers{1, 2}), Ids(RowNumbers{7, 3}), Ids(std::vector<std::int64_t>{-5}),
                          Ids(texts_of({"a", "", "long enough to need memory of its own"})), Ids(RowNumbers{9, 1})}) {
    heap.append(more);
    files.append(more);
    EXPECT_EQ(heap, files);
  }
  EXPECT_EQ(files.text(2), "7");
  EXPECT_EQ(files.text(6), "a");
  EXPECT_EQ(Ids(files), heap);
}

}  // namespace
}  // namespace dfcl::data
