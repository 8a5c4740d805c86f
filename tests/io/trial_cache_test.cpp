// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/trial/trial_reader.h"
#include "temporary_folder.h"

namespace dfcl::io {
namespace {

namespace fs = std::filesystem;

// Numbers, missing values, categories, times and clusters; ids are numbers, texts or not there.
std::string trial_text(const std::string& ids, int last_revenue = 1) {
  std::string text = ids.empty() ? "x,city,arm,revenue,cost,day,home,w,refunds,p\n"
                                 : "id,x,city,arm,revenue,cost,day,home,w,refunds,p\n";
  for (int row = 0; row < 400; ++row) {
    if (ids == "number") text += fmt::format("{},", 3 * row + 1);
    if (ids == "text") text += fmt::format("shop {},", row);
    text += fmt::format("{},{},{},{},{},{},{},{},{},0.5\n", row % 9 == 0 ? "" : fmt::format("{}", row * 0.25),
                        row % 3 == 0 ? "Ulm" : "Bern", row % 2 * 5, row == 399 ? last_revenue : row % 5,
                        row % 2 * (row % 4), row / 100, row / 2, 1 + row % 4, row % 7);
  }
  return text;
}

data::Study study_of(const std::string& trial, const std::string& ids) {
  data::Study study;
  study.data.trial = trial;
  study.columns.arm = "arm";
  study.columns.revenue = "revenue";
  study.columns.cost = "cost";
  study.columns.time = "day";
  study.columns.cluster = "home";
  study.columns.propensity = "p";
  study.columns.weight = "w";
  study.columns.guardrails = {"refunds"};
  study.columns.winsorize = {{"revenue", 0.9}};
  if (!ids.empty()) study.columns.id = "id";
  return study;
}

void expect_same(const data::Trial& a, const data::Trial& b) {
  EXPECT_EQ(a.arms, b.arms);
  EXPECT_EQ(a.features.columns, b.features.columns);
  ASSERT_EQ(a.num_units(), b.num_units());
  EXPECT_EQ(0, std::memcmp(a.features.values.data(), b.features.values.data(),
                           a.num_units() * a.features.num_features() * sizeof(float)));
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.arm, b.arm);
  EXPECT_EQ(a.revenue, b.revenue);
  EXPECT_EQ(a.cost, b.cost);
  EXPECT_EQ(a.cost_facts, b.cost_facts);
  EXPECT_EQ(a.propensity, b.propensity);
  EXPECT_EQ(a.weight, b.weight);
  ASSERT_EQ(a.guardrails.size(), b.guardrails.size());
  for (std::size_t i = 0; i < a.guardrails.size(); ++i) {
    EXPECT_EQ(a.guardrails[i].name, b.guardrails[i].name);
    EXPECT_EQ(a.guardrails[i].value, b.guardrails[i].value);
  }
  EXPECT_EQ(a.cluster, b.cluster);
  EXPECT_EQ(a.num_clusters, b.num_clusters);
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.times, b.times);
  EXPECT_EQ(a.split, b.split);
  EXPECT_EQ(a.notes, b.notes);
  EXPECT_EQ(a.fingerprint, b.fingerprint);
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  return names;
}

TEST(TrialCache, GivesTheTrialThatReadingGives) {
  core::RunContext context(2);
  for (const char* ids : {"", "number", "text"}) {
    const TemporaryFolder folder;
    const data::Study study = study_of(folder.write("trial.csv", trial_text(ids)), ids);
    const data::Trial read = read_trial(study, context);
    for (int time = 0; time < 2; ++time) expect_same(read, read_trial(study, context, folder.file("cache")));
    EXPECT_EQ(names_in(folder.file("cache")).size(), 1u) << "nothing is left of the making";
  }
}

TEST(TrialCache, KeepsKnownPrices) {
  core::RunContext context(2);
  const TemporaryFolder folder;
  data::Study study = study_of(folder.write("trial.csv", trial_text("")), "");
  study.columns.cost.reset();
  study.columns.exclude = {"cost"};
  study.arms.cost = {{"5", 0.15}};
  const data::Trial read = read_trial(study, context);
  EXPECT_EQ(read.cost_facts.per_arm, (std::vector<double>{0.0, 0.15}));
  for (int time = 0; time < 2; ++time) expect_same(read, read_trial(study, context, folder.file("cache")));
  study.arms.cost = {{"5", 0.2}};
  expect_same(read_trial(study, context), read_trial(study, context, folder.file("cache")));
}

TEST(TrialCache, IsUsedAgainUntilTheInputChanges) {
  core::RunContext context(2);
  const TemporaryFolder folder;
  const std::string path = folder.write("trial.csv", trial_text("number"));
  data::Study study = study_of(path, "number");
  const std::string cache = folder.file("cache");
  (void)read_trial(study, context, cache);
  study.method.name = "tsm";  // these say nothing about reading
  study.report.title = "Ours";
  const std::string header = cache + "/" + names_in(cache)[0] + "/header";
  const auto made = fs::last_write_time(header);
  (void)read_trial(study, context, cache);
  EXPECT_EQ(fs::last_write_time(header), made);
  EXPECT_EQ(names_in(cache).size(), 1u);
  folder.write("trial.csv", trial_text("number", 77777));
  study.columns.winsorize = {};
  EXPECT_EQ(read_trial(study, context, cache).revenue.back(), 77777.0f);
  study.split.seed = 4;
  expect_same(read_trial(study, context, cache), read_trial(study, context));
  EXPECT_EQ(names_in(cache).size(), 3u);
}

TEST(TrialCache, OfTwoRunsAtOnceIsOne) {
  const TemporaryFolder folder;
  const data::Study study = study_of(folder.write("trial.csv", trial_text("text")), "text");
  core::RunContext context(1);
  const data::Trial read = read_trial(study, context);
  std::vector<std::thread> runs;
  for (int run = 0; run < 4; ++run) {
    runs.emplace_back([&] {
      core::RunContext own(1);
      expect_same(read, read_trial(study, own, folder.file("cache")));
    });
  }
  for (std::thread& run : runs) run.join();
  EXPECT_EQ(names_in(folder.file("cache")).size(), 1u);
}

TEST(TrialCache, OfABadTrialIsNotKept) {
  core::RunContext context(2);
  const TemporaryFolder folder;
  const data::Study study = study_of(folder.write("trial.csv", trial_text("") + "1,Ulm,0,nan,1,1,1,0.5\n"), "");
  EXPECT_THROW((void)read_trial(study, context, folder.file("cache")), core::Error);
  EXPECT_TRUE(names_in(folder.file("cache")).empty());
}

// A trial and its cache, to be damaged.
struct MadeCache {
  explicit MadeCache(const std::string& ids) : study(study_of(folder.write("trial.csv", trial_text(ids)), ids)) {
    read_again();
    inside = folder.file("cache") + "/" + names_in(folder.file("cache"))[0] + "/";
  }
  void read_again() const {
    core::RunContext context(1);
    (void)read_trial(study, context, folder.file("cache"));
  }
  TemporaryFolder folder;
  data::Study study;
  std::string inside;  // where its files lie
};

// Every file of the cache in turn: cut, lengthened, altered.
TEST(TrialCache, ThatIsCutOrAlteredIsRefused) {
  const MadeCache cache("text");
  const std::string& inside = cache.inside;
  const auto is_refused = [&] {
    try {
      cache.read_again();
    } catch (const core::Error& error) {
      return error.kind() == core::ErrorKind::file;
    }
    return false;
  };
  for (const std::string& name : names_in(inside)) {
    const std::string good = read_text_file(inside + name, 1 << 20);
    const auto put = [&](const std::string& text) { std::ofstream(inside + name, std::ios::binary) << text; };
    for (const std::size_t size : {std::size_t{0}, good.size() / 2, good.size() - 1}) {
      put(good.substr(0, size));
      EXPECT_TRUE(is_refused()) << name << " cut to " << size;
    }
    for (const std::size_t place : {std::size_t{0}, good.size() / 2, good.size() - 1}) {
      std::string altered = good;
      altered[place] = static_cast<char>(altered[place] ^ 1);
      put(altered);
      EXPECT_TRUE(is_refused()) << name << " altered at " << place;
    }
    put(good + "x");
    EXPECT_TRUE(is_refused()) << name << " lengthened";
    fs::remove(inside + name);
    EXPECT_TRUE(is_refused()) << name << " removed";
    put(good);
  }
  const std::string header = read_text_file(inside + "header", 1 << 20);
  for (std::size_t i = 0; i < header.size(); ++i) {
    std::string altered = header;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    std::ofstream(inside + "header", std::ios::binary) << altered;
    EXPECT_TRUE(is_refused()) << "byte " << i;
    std::ofstream(inside + "header", std::ios::binary) << header.substr(0, i);
    EXPECT_TRUE(is_refused()) << "cut to " << i;
  }
  // Headers with a good checksum that lie.
  for (const auto& [truth, lie] :
       {std::pair{"\"units\":400", "\"units\":4000000000"}, std::pair{"\"units\":400", "\"units\":399"},
        std::pair{"\"units\":400", "\"units\":0"}, std::pair{"\"clusters\":200", "\"clusters\":199"},
        std::pair{"\"control\":0", "\"control\":7"}, std::pair{"\"kind\":\"texts\"", "\"kind\":\"numbers\""},
        std::pair{"\"has_propensity\":true", "\"has_propensity\":3"}, std::pair{"\"arms\":[", "\"arms\":[[],"}}) {
    std::string lying = header.substr(17);
    const std::size_t at = lying.find(truth);
    ASSERT_NE(at, std::string::npos) << truth;
    lying.replace(at, std::strlen(truth), lie);
    std::ofstream(inside + "header", std::ios::binary) << fmt::format("{:016x}\n", core::hash_text(lying)) << lying;
    EXPECT_TRUE(is_refused()) << lie;
  }
  std::ofstream(inside + "header", std::ios::binary) << header;
  EXPECT_FALSE(is_refused());
}

TEST(TrialCache, WithCodesThatReachTooFarIsRefused) {
  const MadeCache cache("");
  const std::string& inside = cache.inside;
  for (const char* name : {"arm", "split", "time", "cluster", "revenue", "cost"}) {
    const std::string good = read_text_file(inside + name, 1 << 20);
    std::string bad = good;
    std::fill_n(bad.end() - 4, 4, '\xff');  // a NaN for outcomes
    std::ofstream(inside + name, std::ios::binary) << bad;
    EXPECT_THROW(cache.read_again(), core::Error) << name;
    std::ofstream(inside + name, std::ios::binary) << good;
  }
  EXPECT_NO_THROW(cache.read_again());
}

}  // namespace
}  // namespace dfcl::io
