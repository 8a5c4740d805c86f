// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/memory_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/io/predictions/prediction_file.h"
#include "dfcl/io/tables/batch_reader.h"
#include "dfcl/io/tables/table_summary_reader.h"

namespace dfcl::io {
namespace {

MemoryColumn floats(const char* name, const std::shared_ptr<std::vector<float>>& values) {
  return {.name = name, .type = MemoryColumn::Type::float32, .values = values->data(), .owner = values, .texts = {}};
}

MemoryColumn texts(const char* name, const std::vector<const char*>& values) {
  MemoryColumn column{.name = name};
  for (const char* value : values) column.texts.push_back(value);
  return column;
}

TEST(MemoryTable, IsReadAsAFileIs) {
  const auto revenue = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3});
  const auto cost = std::make_shared<std::vector<float>>(std::vector<float>{4, 5, 6});
  const MemoryTable table({texts("id", {"a", "b", "c"}), floats("revenue_0", revenue), floats("cost_0", cost)}, 3,
                          "predictions");
  EXPECT_EQ(table.path(), "<predictions>");
  core::RunContext context(2);
  const PredictionTable read = read_prediction(table.path(), "", context);
  EXPECT_EQ(read.prediction.ids.text(1), "b");
  EXPECT_EQ(read.prediction.revenue(2, 0), 3.0f);
  EXPECT_EQ(read.prediction.cost(0, 0), 4.0f);
  EXPECT_EQ(summarize_table(table.path(), context).rows, 3);
}

TEST(MemoryTable, TimesAreNumbersOfDaysInEveryUnit) {
  using Unit = MemoryColumn::Unit;
  constexpr std::int64_t kMissing = std::numeric_limits<std::int64_t>::min();
  std::int64_t per_second = 1;
  for (const Unit unit : {Unit::second, Unit::millisecond, Unit::microsecond, Unit::nanosecond}) {
    for (const MemoryColumn::Time time : {MemoryColumn::Time::instant, MemoryColumn::Time::span}) {
      const std::int64_t day = 86400 * per_second;
      const auto values =
          std::make_shared<std::vector<std::int64_t>>(std::vector<std::int64_t>{19723 * day, kMissing, -day / 4, 0});
      MemoryColumn column{.name = "when", .type = MemoryColumn::Type::int64, .values = values->data(), .owner = values};
      column.time = time;
      column.unit = unit;
      const MemoryTable table({column}, values->size(), "units");
      core::RunContext context(1);
      const data::TableSummary summary = summarize_table(table.path(), context);
      ASSERT_EQ(summary.columns.size(), 1u);
      EXPECT_EQ(summary.columns[0].missing, 1);
      EXPECT_DOUBLE_EQ(summary.columns[0].low, -0.25);
      EXPECT_DOUBLE_EQ(summary.columns[0].high, 19723.0);
    }
    per_second *= 1000;
  }
}

TEST(MemoryTable, CanBeReadAgainAfterItsEnd) {
  const auto values = std::make_shared<std::vector<float>>(100'000, 1.5f);
  const MemoryTable table({floats("x", values)}, values->size(), "units");
  core::RunContext context(1);
  const auto source = open_batches(table.path(), {"x"}, {}, context);
  for (int pass = 0; pass < 2; ++pass) {
    std::size_t rows = 0;
    data::Batch batch;
    while (source->next(batch)) rows += batch.num_rows;
    EXPECT_EQ(rows, values->size());
    source->rewind();
  }
}

TEST(MemoryTable, KeepsItsMemoryWhileAReaderHoldsIt) {
  auto values = std::make_shared<std::vector<float>>(std::vector<float>{7});
  auto table = std::make_optional<MemoryTable>(std::vector<MemoryColumn>{floats("x", values)}, 1, "units");
  core::RunContext context(1);
  const auto source = open_batches(table->path(), {"x"}, {}, context);
  values.reset();
  table.reset();
  data::Batch batch;
  ASSERT_TRUE(source->next(batch));
  EXPECT_EQ(std::get<std::vector<float>>(batch.columns[0]), std::vector<float>{7});
}

TEST(MemoryTable, HasANameOfItsOwnThatGoesWithIt) {
  const auto values = std::make_shared<std::vector<float>>(1, 0.0f);
  std::string second;
  {
    const MemoryTable one({floats("x", values)}, 1, "units");
    const MemoryTable other({floats("x", values)}, 1, "units");
    second = other.path();
    EXPECT_EQ(second, "<units 2>");
    EXPECT_TRUE(is_memory_table(second));
  }
  EXPECT_FALSE(is_memory_table(second));
  EXPECT_THROW(column_names(second), core::Error);
}

}  // namespace
}  // namespace dfcl::io
