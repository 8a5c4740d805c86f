// SPDX-License-Identifier: Apache-2.0
//
// The same rows in any order, in any number of files: the same trial.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include "dfcl/core/random.h"
#include "dfcl/data/unit_key.h"
#include "dfcl/io/tables/table_writer.h"
#include "dfcl/io/trial/trial_reader.h"
#include "temporary_folder.h"

namespace dfcl::io {
namespace {

constexpr std::size_t kRows = 3000;

// Row r of the trial, the same wherever it stands. Ids beyond 2^63 and repeated at two times.
struct Row {
  std::uint64_t id;
  std::string day, city, home;
  float x;
  std::int64_t arm;
  double revenue, cost;
};

Row row_of(std::size_t r) {
  core::RandomStream stream(5, core::stream_purpose("trial_order_test"), r);
  Row row;
  row.id = (std::uint64_t{1} << 63) + r / 2;
  row.day = r % 2 == 0 ? "2" : "10";
  row.city = r % 700 == 3 ? fmt::format("rare{}", r) : (stream.bernoulli(0.4) ? "Ulm" : "Bern");
  row.home = fmt::format("h{}", r / 6);
  row.x = stream.bernoulli(0.1) ? std::nanf("") : static_cast<float>(stream.normal());
  row.arm = static_cast<std::int64_t>(5 * stream.below(3));
  row.revenue = std::exp(2.0 * stream.normal());
  row.cost = stream.uniform();
  return row;
}

void write_rows(const std::string& path, const std::vector<std::size_t>& rows, bool with_time) {
  using data::ColumnType;
  std::vector<data::ColumnInfo> columns = {{"id", ColumnType::uint64},   {"city", ColumnType::text},
                                           {"home", ColumnType::text},   {"x", ColumnType::float32},
                                           {"arm", ColumnType::int64},   {"revenue", ColumnType::float64},
                                           {"cost", ColumnType::float64}};
  if (with_time) columns.push_back({"day", ColumnType::text});
  std::vector<std::uint64_t> id;
  std::vector<std::int64_t> arm;
  std::vector<float> x;
  std::vector<double> revenue, cost;
  data::TextColumn day, city, home;
  for (const std::size_t r : rows) {
    const Row row = row_of(r);
    id.push_back(with_time ? row.id : row.id + r);
    city.push_back(row.city);
    home.push_back(row.home);
    x.push_back(row.x);
    arm.push_back(row.arm);
    revenue.push_back(row.revenue);
    cost.push_back(row.cost);
    day.push_back(row.day);
  }
  data::Batch batch{rows.size(), {id, city, home, x, arm, revenue, cost}};
  if (with_time) batch.columns.emplace_back(day);
  TableWriter writer(path, columns, {"trial", "0", "test", {}});
  writer.write(batch);
  writer.commit();
}

data::Trial read_cut(std::size_t num_files, bool shuffled, const char* ending, bool with_time, bool with_cluster) {
  const TemporaryFolder folder;
  std::vector<std::size_t> rows(kRows);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  if (shuffled) {
    core::RandomStream stream(9, core::stream_purpose("trial_order_test shuffle"), num_files);
    for (std::size_t i = kRows - 1; i > 0; --i)
      std::swap(rows[i], rows[stream.below(static_cast<std::uint32_t>(i + 1))]);
  }
  for (std::size_t file = 0; file < num_files; ++file) {
    const auto begin = static_cast<std::ptrdiff_t>(file * kRows / num_files);
    const auto end = static_cast<std::ptrdiff_t>((file + 1) * kRows / num_files);
    write_rows(folder.file(fmt::format("part-{:02}{}", file, ending)),
               std::vector<std::size_t>(rows.begin() + begin, rows.begin() + end), with_time);
  }
  data::Study study;
  study.data.trial = folder.file("");
  study.columns.id = "id";
  study.columns.arm = "arm";
  study.columns.revenue = "revenue";
  study.columns.cost = "cost";
  study.columns.min_level_units = 5;
  study.columns.winsorize = {{"revenue", 0.99}};
  if (with_time) study.columns.time = "day";
  if (with_cluster) study.columns.cluster = "home";
  if (!with_cluster) study.columns.exclude = {"home"};
  core::RunContext context(2);
  return read_trial(study, context);
}

// Everything about a unit that something could depend on.
struct Unit {
  std::string id, time;
  data::Split split;
  float revenue, x, city;
  std::uint64_t group;
  std::uint32_t cluster;
  bool operator==(const Unit& other) const {
    const bool same_x = x == other.x || (std::isnan(x) && std::isnan(other.x));
    return id == other.id && time == other.time && split == other.split && revenue == other.revenue && same_x &&
           city == other.city && group == other.group && cluster == other.cluster;
  }
};

std::map<std::uint64_t, Unit> units_of(const data::Trial& trial) {
  std::map<std::uint64_t, Unit> units;
  for (std::size_t row = 0; row < trial.num_units(); ++row) {
    units[data::unit_key(trial, row)] = {trial.ids.text(row),
                                         trial.has_time() ? trial.times[trial.time[row]] : "",
                                         trial.split[row],
                                         trial.revenue[row],
                                         trial.features.values(row, 1),
                                         trial.features.values(row, 0),
                                         data::group_key(trial, row),
                                         trial.has_clusters() ? trial.cluster[row] : 0};
  }
  return units;
}

class TrialOrder : public ::testing::TestWithParam<std::tuple<bool, bool>> {};

TEST_P(TrialOrder, ChangesNothing) {
  const auto [with_time, with_cluster] = GetParam();
  const data::Trial whole = read_cut(1, false, ".parquet", with_time, with_cluster);
  const auto units = units_of(whole);
  ASSERT_EQ(units.size(), kRows) << "two units share a key";
  EXPECT_EQ(whole.has_clusters(), with_time || with_cluster);
  for (const char* ending : {".parquet", ".csv"}) {
    for (const std::size_t num_files : {1, 3, 17}) {
      const data::Trial cut = read_cut(num_files, true, ending, with_time, with_cluster);
      EXPECT_EQ(cut.fingerprint, whole.fingerprint) << num_files << ending;
      EXPECT_EQ(cut.arms, whole.arms);
      EXPECT_EQ(cut.features.columns, whole.features.columns);
      EXPECT_EQ(cut.times, whole.times);
      EXPECT_EQ(cut.notes, whole.notes);
      EXPECT_TRUE(units_of(cut) == units) << num_files << ending;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TrialOrder, ::testing::Combine(::testing::Bool(), ::testing::Bool()));

}  // namespace
}  // namespace dfcl::io
