// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/trial/unit_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "dfcl/core/error.h"
#include "dfcl/core/parallel.h"
#include "dfcl/io/tables/table_writer.h"
#include "dfcl/io/trial/trial_reader.h"
#include "temporary_folder.h"

namespace dfcl::io {
namespace {

UnitSchema shops() {
  return {
      .features = {{"age", false, {}}, {"city", true, {"(other)", "Bern", "Ulm"}}}, .id = "shop", .missing = {-999}};
}

// All batches joined.
UnitBatch read_all(UnitReader& reader) {
  UnitBatch all;
  UnitBatch batch;
  while (reader.next(batch)) {
    if (all.num_units() == 0) {
      all = std::move(batch);
      continue;
    }
    const std::size_t first = all.num_units();
    all.features.resize(first + batch.num_units());
    std::memcpy(all.features.row(first).data(), batch.features.data(),
                batch.num_units() * all.features.cols() * sizeof(float));
    all.ids.append(batch.ids);
  }
  return all;
}

UnitBatch read_all(const std::string& path, const UnitSchema& schema, int threads = 1) {
  core::RunContext context(threads);
  UnitReader reader(path, schema, context);
  return read_all(reader);
}

core::ErrorDetails failure_of(const std::string& path, const UnitSchema& schema) {
  try {
    read_all(path, schema);
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::data);
    return error.details();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(UnitReader, CodesLevelsAsTheModelDoesWhateverTheOrderOfTheColumns) {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("u.csv", "city,more,shop,age\nUlm,x,a,3.5\n Bern ,x,b,-999\nParis,x,c,\n,x,d,7\n-999,x,e,7\n");
  const UnitBatch units = read_all(path, shops());
  ASSERT_EQ(units.num_units(), 5u);
  EXPECT_EQ(units.ids.text(4), "e");
  EXPECT_EQ(units.features(0, 0), 3.5f);
  EXPECT_TRUE(std::isnan(units.features(1, 0)));
  EXPECT_TRUE(std::isnan(units.features(2, 0)));
  EXPECT_EQ(units.features(0, 1), 2.0f);
  EXPECT_EQ(units.features(1, 1), 1.0f);
  EXPECT_EQ(units.features(2, 1), 0.0f);
  EXPECT_TRUE(std::isnan(units.features(3, 1)));
  EXPECT_TRUE(std::isnan(units.features(4, 1)));
}

TEST(UnitReader, NamesTheColumnsThatAreMissingAndTheNearestOnes) {
  const TemporaryFolder folder;
  core::ErrorDetails failure = failure_of(folder.write("u.csv", "shop,agee,town\na,1,x\n"), shops());
  EXPECT_NE(failure.what.find("'age', 'city'"), std::string::npos) << failure.what;
  EXPECT_EQ(failure.hint, "did you mean 'agee' for 'age'?");
  failure = failure_of(folder.write("i.csv", "age,city\n1,x\n"), shops());
  EXPECT_NE(failure.what.find("'shop'"), std::string::npos);
  UnitSchema wide = shops();
  for (int i = 0; i < 20; ++i) wide.features.push_back({fmt::format("x{}", i), false, {}});
  failure = failure_of(folder.file("i.csv"), wide);
  EXPECT_NE(failure.what.find("and 13 more"), std::string::npos) << failure.what;
}

TEST(UnitReader, NamesThePlaceOfTextInANumericColumn) {
  const TemporaryFolder folder;
  const core::ErrorDetails early = failure_of(folder.write("u.csv", "shop,age,city\na,1,x\nb,old,x\n"), shops());
  EXPECT_EQ(early.where, folder.file("u.csv") + ":3, column 'age'");
  EXPECT_EQ(early.found, "'old'");
  std::string text = "shop,age,city\n";
  for (int i = 0; i < 300'000; ++i) text += fmt::format("{},{},Ulm\n", i, i == 250'000 ? "old" : "1.25");
  EXPECT_EQ(failure_of(folder.write("long.csv", text), shops()).where,
            folder.file("long.csv") + ":250002, column 'age'");
}

TEST(UnitReader, RefusesUnitsWithoutAnId) {
  const TemporaryFolder folder;
  EXPECT_EQ(failure_of(folder.write("u.csv", "shop,age,city\na,1,x\n,2,x\n"), shops()).where,
            folder.file("u.csv") + ":3, column 'shop'");
}

TEST(UnitReader, SaysWhetherIdsAreWholeNumbers) {
  const TemporaryFolder folder;
  core::RunContext context(1);
  using data::ColumnType;
  const auto type_in = [&](const char* id) {
    const std::string path = folder.write("u.csv", fmt::format("shop,age,city\n1,1,x\n{},1,x\n", id));
    return UnitReader(path, shops(), context).id_type();
  };
  EXPECT_EQ(type_in("2"), ColumnType::int64);
  EXPECT_EQ(type_in("18446744073709551615"), ColumnType::uint64);
  EXPECT_EQ(type_in("18446744073709551616"), ColumnType::text);
  EXPECT_EQ(type_in("007"), ColumnType::text);
  UnitSchema unnamed = shops();
  unnamed.id = "";
  EXPECT_EQ(UnitReader(folder.file("u.csv"), unnamed, context).id_type(), ColumnType::int64);
  TableWriter writer(folder.file("u.parquet"),
                     {{"shop", ColumnType::int64}, {"age", ColumnType::float32}, {"city", ColumnType::text}}, {});
  data::TextColumn city;
  city.push_back("Ulm");
  writer.write({1, {std::vector<std::int64_t>{7}, std::vector<float>{1.0f}, city}});
  writer.commit();
  UnitReader reader(folder.file("u.parquet"), shops(), context);
  EXPECT_EQ(reader.id_type(), ColumnType::int64);
  EXPECT_EQ(read_all(reader).ids.number(0), 7);
}

TEST(UnitReader, TakesWordsForNumbers) {
  const TemporaryFolder folder;
  const UnitBatch units = read_all(folder.write("u.csv", "shop,age,city\na,true,x\nb,false,x\n"), shops());
  EXPECT_EQ(units.features(0, 0), 1.0f);
  EXPECT_EQ(units.features(1, 0), 0.0f);
}

TEST(UnitReader, NumbersUnitsWithoutAnIdOverAllFiles) {
  const TemporaryFolder folder;
  folder.write("u1.csv", "age,city\n1,x\n2,x\n");
  folder.write("u2.csv", "age,city\n3,x\n");
  UnitSchema schema = shops();
  schema.id = "";
  core::RunContext context(1);
  UnitReader reader(folder.file("u*.csv"), schema, context);
  EXPECT_FALSE(reader.has_ids());
  for (int pass = 0; pass < 2; ++pass) {
    const UnitBatch units = read_all(reader);
    ASSERT_EQ(units.num_units(), 3u);
    EXPECT_EQ(units.ids.text(2), "3");
    EXPECT_EQ(units.features(2, 0), 3.0f);
    reader.rewind();
  }
  // A column `id` is the id where the model names none.
  EXPECT_EQ(read_all(folder.write("named.csv", "id,age,city\nq,1,x\n"), schema).ids.text(0), "q");
}

TEST(UnitReader, ReadsATrialsFeaturesAsTheTrialReaderDidWithAnyThreads) {
  const TemporaryFolder folder;
  std::string text = "id,arm,revenue,cost,age,city\n";
  for (int i = 0; i < 200'000; ++i) {
    const char* city = i % 7 == 0 ? "" : (i % 3 == 0 ? "Ulm" : (i % 90'000 == 1 ? "rare" : "Bern"));
    text += fmt::format("u{},{},1,0,{},{}\n", i, i % 2, i % 11 == 0 ? "" : fmt::format("{}.5", i % 100), city);
  }
  data::Study study;
  study.data.trial = folder.write("t.csv", text);
  study.columns.id = "id";
  study.columns.arm = "arm";
  study.columns.revenue = "revenue";
  study.columns.cost = "cost";
  core::RunContext context(2);
  const data::Trial trial = read_trial(study, context);
  const UnitSchema schema{.features = trial.features.columns, .id = "id", .missing = {}};
  UnitReader reader(*study.data.trial, schema, context);
  std::size_t place = 0;
  core::ordered_pipeline(
      context, [&] { return reader.read(); },
      [&](std::shared_ptr<RawUnits> raw) { return reader.decode(std::move(raw)); },
      [&](UnitBatch batch) {
        reader.accept(batch);
        for (std::size_t row = 0; row < batch.num_units(); ++row, ++place) {
          ASSERT_EQ(batch.ids.text(row), trial.ids.text(place));
          ASSERT_EQ(
              std::memcmp(batch.features.row(row).data(), trial.features.values.row(place).data(), 2 * sizeof(float)),
              0);
        }
      });
  EXPECT_EQ(place, 200'000u);
}

}  // namespace
}  // namespace dfcl::io
