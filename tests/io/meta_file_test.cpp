// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/meta_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "dfcl/core/error.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tables/file_format.h"
#include "dfcl/io/tables/table_summary_reader.h"
#include "dfcl/io/tables/table_writer.h"
#include "temporary_folder.h"
#include "tests/warnings.h"

namespace dfcl::io {
namespace {

namespace fs = std::filesystem;

const data::Provenance kMade = {"plan", "1.2", "allocate", {{"control", "0"}, {"objective", "revenue"}}};

std::string write_table(const std::string& path, const data::Provenance& provenance, double value = 0.5) {
  TableWriter writer(path, {{"id", data::ColumnType::int64}, {"x", data::ColumnType::float64}}, provenance);
  writer.write({2, {std::vector<std::int64_t>{1, 2}, std::vector<double>{value, 1.0}}});
  writer.commit({{"budget", "100"}, {"multiplier", "0.25"}});
  return path;
}

core::ErrorDetails failure_of(const std::string& path) {
  try {
    (void)read_provenance(path);
  } catch (const core::Error& error) {
    return error.details();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(MetaFile, EveryFormatCarriesTheSameWords) {
  const TemporaryFolder folder;
  for (const char* name : {"t.parquet", "t.arrow", "t.csv", "t.csv.gz"}) {
    const data::Provenance read = read_provenance(write_table(folder.file(name), kMade));
    EXPECT_EQ(read.kind, "plan") << name;
    EXPECT_EQ(read.version, "1.2") << name;
    EXPECT_EQ(read.verb, "allocate") << name;
    ASSERT_EQ(read.options.size(), 4u) << name;
    EXPECT_EQ(read.options[1], std::make_pair(std::string("objective"), std::string("revenue"))) << name;
    EXPECT_EQ(read.options[2], std::make_pair(std::string("budget"), std::string("100"))) << name;
  }
  EXPECT_TRUE(
      folder.holds_only({"t.parquet", "t.arrow", "t.csv", "t.csv.gz", "t.csv.meta.json", "t.csv.gz.meta.json"}));
}

TEST(MetaFile, OfAnotherTableIsRefused) {
  const TemporaryFolder folder;
  const std::string path = write_table(folder.file("t.csv"), kMade);
  const std::string changed = read_text_file(path, 1000);
  for (const std::string& text : {changed + "3,1\n", std::string("id,x\n1,0.6\n2,1\n")}) {
    folder.write("t.csv", text);
    const core::ErrorDetails failure = failure_of(path);
    EXPECT_EQ(failure.kind, core::ErrorKind::data);
    EXPECT_EQ(failure.where, path + ".meta.json");
  }
  fs::remove(path + ".meta.json");
  EXPECT_EQ(read_provenance(path).kind, "");
}

TEST(MetaFile, GoesWhenATableWithoutWordsTakesTheName) {
  const TemporaryFolder folder;
  write_table(folder.file("t.csv"), kMade);
  EXPECT_EQ(read_provenance(write_table(folder.file("t.csv"), {})).kind, "");
  EXPECT_TRUE(folder.holds_only({"t.csv"}));
}

TEST(MetaFile, IsNoTableItself) {
  const TemporaryFolder folder;
  write_table(folder.file("t.csv"), kMade);
  EXPECT_EQ(input_files(folder.file("t*")), (std::vector<std::string>{folder.file("t.csv")}));
  EXPECT_EQ(input_files(folder.file("")), (std::vector<std::string>{folder.file("t.csv")}));
}

TEST(MetaFile, HostileOnesAreRefused) {
  const TemporaryFolder folder;
  const std::string path = write_table(folder.file("t.csv"), kMade);
  const std::string good = read_text_file(path + ".meta.json", 10'000);
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    return text.replace(place, from.size(), to);
  };
  for (const std::string& text : {
           std::string(),
           std::string("[]"),
           good.substr(0, good.size() / 2),
           replaced("dfcl-meta", "other"),
           replaced("\"meta\": 1", "\"meta\": 2"),
           replaced("\"meta\": 1", "\"meta\": 1, \"meta\": 1"),
           replaced("\"bytes\": ", "\"bytes\": -"),
           replaced("\"control\": \"0\"", "\"control\": 0"),
           replaced("\"control\": \"0\"", "\"control\": [[[[[[\"0\"]]]]]]"),
           replaced("\"kind\": \"plan\"", "\"kind\": null"),
           std::string(100'000, '['),
           std::string(std::size_t{5} << 20, ' '),
       }) {
    folder.write("t.csv.meta.json", text);
    EXPECT_EQ(failure_of(path).kind, core::ErrorKind::file) << text.substr(0, 200);
  }
}

TEST(MetaFile, ATableCanBeLookedAtWhateverLiesBesideIt) {
  const TemporaryFolder folder;
  const std::string path = write_table(folder.file("t.csv"), kMade);
  folder.write("t.csv.meta.json", "{}");
  Warnings warnings;
  core::RunContext context(1, 0, &warnings);
  EXPECT_EQ(summarize_table(path, context).rows, 2);
  EXPECT_EQ(warnings.list.size(), 1u);
}

}  // namespace
}  // namespace dfcl::io
