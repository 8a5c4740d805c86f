// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/trial/trial_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "dfcl/core/error.h"
#include "dfcl/core/random.h"
#include "dfcl/io/tables/table_writer.h"
#include "temporary_folder.h"

namespace dfcl::io {
namespace {

data::Study study_of(const std::string& trial) {
  data::Study study;
  study.data.trial = trial;
  study.columns.arm = "arm";
  study.columns.revenue = "revenue";
  study.columns.cost = "cost";
  study.columns.id = "id";
  study.columns.min_level_units = 5;
  return study;
}

// A trial with numbers, missing values, a text category and text arms, as batches.
std::vector<data::ColumnInfo> trial_columns() {
  using data::ColumnType;
  return {{"id", ColumnType::int64},  {"x", ColumnType::float32},       {"city", ColumnType::text},
          {"arm", ColumnType::int64}, {"revenue", ColumnType::float64}, {"cost", ColumnType::float64},
          {"home", ColumnType::int64}};
}

data::Batch trial_batch(std::size_t first, std::size_t count) {
  data::Batch batch;
  batch.num_rows = count;
  std::vector<std::int64_t> id, arm, home;
  std::vector<float> x;
  std::vector<double> revenue, cost;
  data::TextColumn city;
  for (std::size_t row = first; row < first + count; ++row) {
    core::RandomStream stream(3, core::stream_purpose("trial_reader_test"), row);
    id.push_back(static_cast<std::int64_t>(row * 7 + 1));
    x.push_back(stream.bernoulli(0.1) ? std::nanf("") : static_cast<float>(stream.normal()));
    city.push_back(row % 500 == 3 ? "rare"
                                  : (stream.bernoulli(0.5) ? "Ulm" : (stream.bernoulli(0.1) ? "" : "Bern, CH")));
    arm.push_back(static_cast<std::int64_t>(5 * stream.below(3)));
    revenue.push_back(stream.uniform());
    cost.push_back(stream.uniform());
    home.push_back(static_cast<std::int64_t>(row / 3));
  }
  batch.columns = {id, x, city, arm, revenue, cost, home};
  return batch;
}

std::string write_trial(const TemporaryFolder& folder, const std::string& name, std::size_t rows,
                        std::size_t first = 0) {
  TableWriter writer(folder.file(name), trial_columns(), {"trial", "0", "test", {}});
  for (std::size_t begin = 0; begin < rows; begin += 1000) {
    writer.write(trial_batch(first + begin, std::min<std::size_t>(1000, rows - begin)));
  }
  writer.commit();
  return folder.file(name);
}

data::Trial read(const data::Study& study, int threads = 2) {
  core::RunContext context(threads);
  return read_trial(study, context);
}

core::ErrorDetails failure_of(const data::Study& study) {
  try {
    read(study);
  } catch (const core::Error& error) {
    return error.details();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(TrialReader, ReadsEveryFormatToTheSameTrial) {
  const TemporaryFolder folder;
  std::vector<std::uint64_t> fingerprints;
  for (const char* name : {"a.csv", "b.csv.gz", "c.parquet", "d.arrow"}) {
    const data::Trial trial = read(study_of(write_trial(folder, name, 5000)));
    ASSERT_EQ(trial.num_units(), 5000u);
    EXPECT_EQ(trial.arms.labels, (std::vector<std::string>{"0", "5", "10"})) << name;
    EXPECT_EQ(trial.features.columns[1].levels, (std::vector<std::string>{"(other)", "Bern, CH", "Ulm"}));
    EXPECT_EQ(trial.features.values(3, 1), 0.0f) << "a rare level belongs to the pool";
    fingerprints.push_back(trial.fingerprint);
  }
  EXPECT_EQ(std::count(fingerprints.begin(), fingerprints.end(), fingerprints.front()), 4);
}

TEST(TrialReader, KeepsValuesMissingnessAndIds) {
  const TemporaryFolder folder;
  const data::Trial trial = read(study_of(write_trial(folder, "t.csv", 3000)));
  const data::Batch batch = trial_batch(0, 3000);
  const auto& x = std::get<std::vector<float>>(batch.columns[1]);
  const auto& city = std::get<data::TextColumn>(batch.columns[2]);
  const auto& revenue = std::get<std::vector<double>>(batch.columns[4]);
  ASSERT_EQ(trial.features.num_features(), 3u);
  for (std::size_t unit = 0; unit < 3000; ++unit) {
    EXPECT_EQ(trial.ids.text(unit), std::to_string(unit * 7 + 1));
    EXPECT_EQ(trial.revenue[unit], static_cast<float>(revenue[unit]));
    if (std::isnan(x[unit])) {
      EXPECT_TRUE(std::isnan(trial.features.values(unit, 0)));
    } else {
      EXPECT_EQ(trial.features.values(unit, 0), x[unit]);
    }
    const float code = trial.features.values(unit, 1);
    if (city[unit].empty()) {
      EXPECT_TRUE(std::isnan(code));
    } else if (city[unit] != "rare") {
      EXPECT_EQ(trial.features.columns[1].levels[static_cast<std::size_t>(code)], city[unit]);
    }
  }
}

TEST(TrialReader, GivesTheSameBytesForAnyNumberOfThreads) {
  const TemporaryFolder folder;
  data::Study study = study_of(write_trial(folder, "t.csv", 150'000));  // several blocks
  study.columns.cluster = "home";
  const data::Trial one = read(study, 1);
  for (const int threads : {2, 8}) {
    const data::Trial many = read(study, threads);
    EXPECT_EQ(one.fingerprint, many.fingerprint);
    EXPECT_EQ(one.split, many.split);
    EXPECT_EQ(one.cluster, many.cluster);
    EXPECT_EQ(one.notes, many.notes);
  }
}

TEST(TrialReader, ReadsAFolderAndAGlobAsOneTrial) {
  const TemporaryFolder folder;
  write_trial(folder, "part-1.csv", 2000, 0);
  write_trial(folder, "part-2.csv", 3000, 2000);
  const data::Trial by_glob = read(study_of(folder.file("part-*.csv")));
  const data::Trial by_folder = read(study_of(folder.file("")));
  const TemporaryFolder other;
  const data::Trial whole = read(study_of(write_trial(other, "whole.csv", 5000)));
  EXPECT_EQ(by_glob.fingerprint, whole.fingerprint);
  EXPECT_EQ(by_folder.fingerprint, whole.fingerprint);
}

TEST(TrialReader, SplitsByClusterTogetherAndIndependentlyOfRowOrder) {
  const TemporaryFolder folder;
  data::Study study = study_of(write_trial(folder, "t.parquet", 6000));
  study.columns.cluster = "home";
  const data::Trial trial = read(study);
  EXPECT_EQ(trial.num_clusters, 2000u);
  for (std::size_t unit = 1; unit < trial.num_units(); ++unit) {
    if (trial.cluster[unit] != trial.cluster[unit - 1]) continue;
    EXPECT_EQ(trial.split[unit], trial.split[unit - 1]);
  }
  write_trial(folder, "late.csv", 3000, 3000);
  data::Study late = study;
  late.data.trial = folder.file("late.csv");
  const data::Trial half = read(late);
  for (std::size_t unit = 0; unit < 3000; ++unit) EXPECT_EQ(half.split[unit], trial.split[unit + 3000]);
}

std::string rows_of(int count, const std::string& header, const std::function<std::string(int)>& row) {
  std::string text = header + "\n";
  for (int i = 0; i < count; ++i) text += row(i) + "\n";
  return text;
}

TEST(TrialReader, RowsOfAnIdThatComesAgainAreACluster) {
  const TemporaryFolder folder;
  const std::string text = rows_of(300, "id,row,day,x,arm,revenue,cost", [](int i) {
    return fmt::format("{},{},{},{},{},{},1", i / 3, i, i % 3, i % 7, i % 2, i % 5);
  });
  data::Study study = study_of(folder.write("t.csv", text));
  EXPECT_EQ(read(study).num_clusters, 0u) << "without a time, an id that comes again is a mistake";
  study.columns.time = "day";
  const data::Trial trial = read(study);
  EXPECT_EQ(trial.num_clusters, 100u);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit)
    EXPECT_EQ(trial.cluster[unit], trial.cluster[unit - unit % 3]);
  study.columns.id = "row";
  EXPECT_FALSE(read(study).has_clusters()) << "no id comes again";
}

TEST(TrialReader, TakesWordsAsOutcomesAndTrimsArms) {
  const TemporaryFolder folder;
  const std::string text = rows_of(200, "x,arm,revenue", [](int i) {
    return fmt::format("{},{},{}", i, i % 2 == 0 ? "\" Control\"" : " Mail ", i % 3 == 0 ? "Yes" : "No");
  });
  data::Study study = study_of(folder.write("t.csv", text));
  study.columns.id.reset();
  study.columns.cost.reset();
  study.arms.control = "Control";
  study.arms.cost = {{"Mail", 0.5}};
  const data::Trial trial = read(study);
  EXPECT_EQ(trial.arms.labels, (std::vector<std::string>{"Control", "Mail"}));
  EXPECT_EQ(trial.revenue[0], 1.0f);
  EXPECT_EQ(trial.revenue[1], 0.0f);
  EXPECT_EQ(trial.cost[0], 0.0f);
  EXPECT_EQ(trial.cost[1], 0.5f);
  EXPECT_EQ(trial.ids.text(0), "1");
}

TEST(TrialReader, CarriesKnownPricesAsTheyWereWritten) {
  const TemporaryFolder folder;
  const std::string text =
      rows_of(100, "x,arm,revenue", [](int i) { return fmt::format("{},{},{}", i, i % 2 == 0 ? "no" : "yes", i); });
  data::Study study = study_of(folder.write("t.csv", text));
  study.columns.id.reset();
  study.columns.cost.reset();
  study.arms.control = "no";
  study.arms.cost = {{"yes", 0.15}};
  const data::Trial trial = read(study);
  EXPECT_EQ(trial.cost_facts, (data::CostFacts{data::CostKind::price, {0.0, 0.15}}));
  study.arms.cost = {{"yes", 0.25}};
  EXPECT_NE(read(study).fingerprint, trial.fingerprint);
}

TEST(TrialReader, APriceIsPaidWhereTheOutcomeHappens) {
  const TemporaryFolder folder;
  const auto text = [](const char* last) {
    return rows_of(100, "x,arm,revenue,redeemed", [=](int i) {
      return fmt::format("{},{},{},{}", i, i % 2, i, i == 99 ? last : i % 4 == 1 ? "yes" : "no");
    });
  };
  data::Study study = study_of(folder.write("t.csv", text("no")));
  study.columns.id.reset();
  study.columns.cost.reset();
  study.columns.cost_if = "redeemed";
  study.arms.cost = {{"1", 2.5}};
  const data::Trial trial = read(study);
  EXPECT_EQ(trial.cost_facts, (data::CostFacts{data::CostKind::price_if, {0.0, 2.5}}));
  EXPECT_EQ(trial.cost[1], 2.5f);
  EXPECT_EQ(trial.cost[3], 0.0f);
  EXPECT_EQ(trial.features.columns.size(), 1u) << "an outcome is no feature";
  study.data.trial = folder.write("bad.csv", text("maybe"));
  EXPECT_THROW((void)read(study), core::Error);
  const std::string numbers =
      rows_of(100, "x,arm,revenue,redeemed", [](int i) { return fmt::format("{},{},{},{}", i, i % 2, i, i % 3); });
  study.data.trial = folder.write("twos.csv", numbers);
  EXPECT_THROW((void)read(study), core::Error) << "2 is neither paid nor not";
}

TEST(TrialReader, KnowsCostAsARateOfRevenueAndMissingCodes) {
  const TemporaryFolder folder;
  const std::string text = rows_of(100, "x,c,arm,revenue", [](int i) {
    return fmt::format("{},{},{},{}", i == 7 ? -999 : i, i % 2 == 0 ? -999 : 1, i % 2, i);
  });
  data::Study study = study_of(folder.write("t.csv", text));
  study.columns.id.reset();
  study.columns.cost.reset();
  study.columns.missing = {-999};
  study.columns.categorical = {"c"};
  study.arms.cost_per_revenue = {{"1", 0.25}};
  const data::Trial trial = read(study);
  EXPECT_EQ(trial.cost[8], 0.0f);
  EXPECT_EQ(trial.cost[9], 2.25f);
  EXPECT_TRUE(std::isnan(trial.features.values(7, 0)));
  EXPECT_TRUE(std::isnan(trial.features.values(8, 1)));
  EXPECT_EQ(trial.features.columns[1].levels, (std::vector<std::string>{"(other)", "1"}));
}

TEST(TrialReader, LeavesOutAFewRowsWithoutAnOutcomeAndKeepsRowNumbers) {
  const TemporaryFolder folder;
  const auto text = [](int every) {
    return rows_of(1000, "x,arm,revenue,cost",
                   [=](int i) { return fmt::format("{},{},{},0", i, i % 2, i % every == 3 ? "" : "1"); });
  };
  data::Study study = study_of(folder.write("few.csv", text(500)));
  study.columns.id.reset();
  const data::Trial trial = read(study);
  EXPECT_EQ(trial.num_units(), 998u);
  EXPECT_EQ(trial.ids.text(2), "3");
  EXPECT_EQ(trial.ids.text(3), "5");
  ASSERT_EQ(trial.notes.size(), 1u);
  EXPECT_NE(trial.notes[0].find("2 of 1000 rows have no outcome"), std::string::npos);
  study.data.trial = folder.write("many.csv", text(50));
  EXPECT_NE(failure_of(study).what.find("rows without an outcome"), std::string::npos);
}

// Rows of Parquet are converted in their places by many threads before it is known which of them are left out.
TEST(TrialReader, RowsThatAreLeftOutLeaveNoGapsInAnyFormat) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name) {
    TableWriter writer(folder.file(name), trial_columns(), {"trial", "0", "test", {}});
    for (std::size_t begin = 0; begin < 20'000; begin += 1000) {
      data::Batch batch = trial_batch(begin, 1000);
      auto& revenue = std::get<std::vector<double>>(batch.columns[4]);
      for (std::size_t row = begin / 1000; row < revenue.size(); row += 211) revenue[row] = std::nan("");
      if (begin == 7000) revenue.front() = revenue.back() = std::nan("");
      writer.write(batch);
    }
    writer.commit();
    return folder.file(name);
  };
  data::Study study = study_of(write("gaps.csv"));
  const data::Trial expected = read(study, 1);
  EXPECT_LT(expected.num_units(), 19'950u);
  for (const char* name : {"gaps.parquet", "gaps.arrow"}) {
    study.data.trial = write(name);
    for (const int threads : {1, 2, 8}) {
      const data::Trial trial = read(study, threads);
      EXPECT_EQ(trial.fingerprint, expected.fingerprint) << name << ", threads " << threads;
      EXPECT_EQ(trial.ids, expected.ids);
      EXPECT_EQ(trial.notes, expected.notes);
    }
  }
  // A second file follows where the first one's rows end.
  write("two-1.parquet");
  write("two-2.parquet");
  study.data.trial = folder.file("two-*.parquet");
  study.columns.id.reset();
  study.columns.exclude = {"id"};
  const data::Trial twice = read(study, 2);
  ASSERT_EQ(twice.num_units(), 2 * expected.num_units());
  for (std::size_t unit = 0; unit < expected.num_units(); ++unit) {
    EXPECT_EQ(twice.revenue[unit], twice.revenue[unit + expected.num_units()]);
    const auto bits = [&](std::size_t row) { return std::bit_cast<std::uint32_t>(twice.features.values(row, 0)); };
    EXPECT_EQ(bits(unit), bits(unit + expected.num_units()));
  }
}

TEST(TrialReader, ReadsQuotedLineEndsSemicolonsAndCarriageReturns) {
  const TemporaryFolder folder;
  std::string text = "x;arm;revenue;cost;note\r\n";
  for (int i = 0; i < 100; ++i) text += fmt::format("{};{};1;0;\"two\nlines; {}\"\r\n", i, i % 2, i % 3);
  data::Study study = study_of(folder.write("t.csv", text));
  study.columns.id.reset();
  const data::Trial trial = read(study);
  EXPECT_EQ(trial.num_units(), 100u);
  EXPECT_EQ(trial.features.columns[1].levels[1], "two\nlines; 0");
}

TEST(TrialReader, SplitsByTimeAndByColumn) {
  const TemporaryFolder folder;
  const std::string text = rows_of(1000, "id,day,part,x,arm,revenue,cost", [](int i) {
    return fmt::format("{},{},{},{},{},1,0", i / 10, i % 10 + 1, i % 4 == 0 ? "test" : "train", i, i % 2);
  });
  data::Study study = study_of(folder.write("t.csv", text));
  study.columns.time = "day";
  study.columns.exclude = {"part"};
  study.split = {.by = "time", .train = 0.5, .validation = 0.0, .test = 0.5};
  const data::Trial by_time = read(study);
  EXPECT_EQ(by_time.times.back(), "10");
  for (std::size_t unit = 0; unit < 1000; ++unit) {
    EXPECT_EQ(by_time.split[unit], unit % 10 < 5 ? data::Split::train : data::Split::test);
  }
  study.split.by = "part";
  const data::Trial by_column = read(study);
  for (std::size_t unit = 0; unit < 1000; ++unit) {
    EXPECT_EQ(by_column.split[unit], unit % 4 == 0 ? data::Split::test : data::Split::train);
  }
}

TEST(TrialReader, NamesTheLineOfABadValueFarIntoTheFile) {
  const TemporaryFolder folder;
  // 300,000 rows are several blocks; the bad value stands on line 250,002.
  const auto text = [](const std::string& bad) {
    return rows_of(300'000, "x,arm,revenue,cost",
                   [&](int i) { return fmt::format("{},{},1.25,0", i == 250'000 ? bad : std::to_string(i), i % 2); });
  };
  data::Study study = study_of(folder.write("t.csv", text("abc")));
  study.columns.id.reset();
  core::ErrorDetails failure = failure_of(study);
  EXPECT_EQ(failure.where, folder.file("t.csv") + ":250002, column 'x'");
  EXPECT_EQ(failure.found, "'abc'");
  study.data.trial = folder.write("short.csv", text("7,1\n8"));
  failure = failure_of(study);
  EXPECT_EQ(failure.where, folder.file("short.csv") + ":250002");
  EXPECT_EQ(failure.found, "2 fields");
}

TEST(TrialReader, WinsorizesAsDeclared) {
  const TemporaryFolder folder;
  const std::string text =
      rows_of(1001, "x,arm,revenue,cost", [](int i) { return fmt::format("{},{},{},0", i, i % 2, i); });
  data::Study study = study_of(folder.write("t.csv", text));
  study.columns.id.reset();
  study.columns.winsorize = {{"revenue", 0.99}};
  const data::Trial trial = read(study);
  EXPECT_EQ(*std::max_element(trial.revenue.begin(), trial.revenue.end()), 990.0f);
  EXPECT_NE(trial.notes[0].find("revenue of 10 units is winsorised"), std::string::npos);
}

TEST(TrialReader, ARateIsOneOfTheWinsorisedRevenue) {
  const TemporaryFolder folder;
  const std::string text = rows_of(1001, "x,arm,revenue", [](int i) { return fmt::format("{},{},{}", i, i % 2, i); });
  data::Study study = study_of(folder.write("t.csv", text));
  study.columns.id.reset();
  study.columns.cost.reset();
  study.arms.cost_per_revenue = {{"0", 0.0}, {"1", 0.5}};
  study.columns.winsorize = {{"revenue", 0.99}};
  const data::Trial trial = read(study);
  EXPECT_EQ(*std::max_element(trial.cost.begin(), trial.cost.end()), 495.0f);
}

TEST(TrialReader, TakesSampleWeightsAndGuardrails) {
  const TemporaryFolder folder;
  const auto text = [](const std::string& odd, const std::string& refunds = "2") {
    return rows_of(200, "x,arm,revenue,cost,w,refunds", [&](int i) {
      return fmt::format("{},{},1,0,{},{}", i, i % 2, i == 120 ? odd : std::to_string(1 + i % 3),
                         i == 50 ? refunds : "1");
    });
  };
  data::Study study = study_of(folder.write("t.csv", text("0")));
  study.columns.id.reset();
  study.columns.weight = "w";
  study.columns.guardrails = {"refunds"};
  const data::Trial trial = read(study);
  ASSERT_EQ(trial.num_units(), 199u);  // a weight of 0 leaves its row out, and row numbers stay
  EXPECT_EQ(trial.ids.text(120), "122");
  EXPECT_EQ(trial.weight[1], 2.0f);
  ASSERT_EQ(trial.guardrails.size(), 1u);
  EXPECT_EQ(trial.guardrails[0].value[50], 2.0f);
  EXPECT_EQ(trial.features.num_features(), 1u);
  EXPECT_NE(trial.notes.back().find("1 of 200 rows have a sample weight of 0"), std::string::npos);

  for (const auto& [odd, what] : {std::pair{"-1", "a negative sample weight"}, std::pair{"", "no sample weight"}}) {
    study.data.trial = folder.write("bad.csv", text(odd));
    const core::ErrorDetails failure = failure_of(study);
    EXPECT_EQ(failure.what, what);
    EXPECT_EQ(failure.where, folder.file("bad.csv") + ":122, column 'w'");
  }
  study.data.trial = folder.write("nan.csv", text("nan"));
  EXPECT_EQ(failure_of(study).where, folder.file("nan.csv") + ":122, column 'w'");
  study.data.trial = folder.write("empty.csv", text("1", ""));
  EXPECT_EQ(failure_of(study).where, folder.file("empty.csv") + ":52, column 'refunds'");
}

// Only proportions count: equal weights leave no trace.
TEST(TrialReader, EqualSampleWeightsAreNone) {
  const TemporaryFolder folder;
  const std::string text =
      rows_of(100, "x,arm,revenue,cost,w", [](int i) { return fmt::format("{},{},{},0,2.5", i, i % 2, i % 3); });
  data::Study study = study_of(folder.write("t.csv", text));
  study.columns.id.reset();
  study.columns.exclude = {"w"};
  const data::Trial without = read(study);
  study.columns.exclude = {};
  study.columns.weight = "w";
  const data::Trial with = read(study);
  EXPECT_TRUE(with.weight.empty());
  EXPECT_EQ(with.fingerprint, without.fingerprint);
}

}  // namespace
}  // namespace dfcl::io
