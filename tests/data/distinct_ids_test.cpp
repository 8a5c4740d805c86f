// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/distinct_ids.h"

#include <gtest/gtest.h>

#include "dfcl/core/error.h"

namespace dfcl::data {
namespace {

// Ids in batches of three.
class IdSource final : public BatchSource {
 public:
  explicit IdSource(std::vector<std::int64_t> ids) : ids_(std::move(ids)) {}
  const std::vector<ColumnInfo>& columns() const override { return columns_; }
  bool next(Batch& batch) override {
    if (row_ == ids_.size()) return false;
    const std::size_t end = std::min(row_ + 3, ids_.size());
    const auto at = [&](std::size_t i) { return ids_.begin() + static_cast<std::ptrdiff_t>(i); };
    batch = {end - row_, {std::vector<std::int64_t>(at(row_), at(end))}};
    row_ = end;
    return true;
  }
  void rewind() override { row_ = 0; }

 private:
  std::vector<std::int64_t> ids_;
  std::vector<ColumnInfo> columns_ = {{"id", ColumnType::int64}};
  std::size_t row_ = 0;
};

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::data);
    return error.what();
  }
  return "";
}

TEST(DistinctIds, RepeatedAndMissingOnesAreNamed) {
  core::RunContext context(2);
  const auto check = [&](const Ids& ids) { return refusal([&] { require_distinct(ids, "p.csv", context); }); };
  EXPECT_EQ(check(std::vector<std::int64_t>{3, 1, 2}), "");
  EXPECT_NE(check(std::vector<std::int64_t>{3, 17, 2, 17}).find("'17' stands twice"), std::string::npos);
  TextColumn texts;
  for (const char* text : {"a", "b", ""}) texts.push_back(text);
  EXPECT_NE(check(Ids(std::move(texts))).find("without an id"), std::string::npos);
  EXPECT_EQ(check(RowNumbers{1, 5}), "");
}

TEST(DistinctIds, AreCheckedInTheFirstPassOfAStream) {
  core::RunContext context(2);
  const auto read_twice = [&](std::vector<std::int64_t> ids) {
    return refusal([&] {
      DistinctIdsSource source(std::make_unique<IdSource>(std::move(ids)), "p.csv", context);
      for (int pass = 0; pass < 2; ++pass) {
        source.rewind();
        Batch batch;
        std::size_t rows = 0;
        while (source.next(batch)) rows += batch.num_rows;
        EXPECT_EQ(rows, 7u);
      }
      EXPECT_EQ(source.id_of(4), "15");
    });
  };
  EXPECT_EQ(read_twice({11, 12, 13, 14, 15, 16, 17}), "");
  EXPECT_NE(read_twice({11, 12, 13, 14, 15, 12, 17}).find("'12' stands twice"), std::string::npos);
}

}  // namespace
}  // namespace dfcl::data
