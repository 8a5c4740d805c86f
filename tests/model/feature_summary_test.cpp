// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/feature_summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "dfcl/core/random.h"

namespace dfcl::model {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

// A number, one of few distinct values, and a category of 40 levels of falling shares; a tenth of the first is missing.
struct Shift {
  double number = 0.0;
  double missing = 0.1;
  double unseen = 0.01;
};
data::Features make_features(std::size_t units, std::uint64_t seed, Shift shift = {}) {
  data::Features features;
  data::FeatureColumn city{"city", true, {data::kPooledLevel}};
  for (int level = 0; level < 40; ++level) city.levels.push_back("city " + std::to_string(100 + level));
  features.columns = {{"number", false, {}}, {"visits", false, {}}, city};
  features.values = core::Matrix<float>(units, 3);
  for (std::size_t unit = 0; unit < units; ++unit) {
    core::RandomStream stream(seed, core::stream_purpose("feature summary test"), unit);
    const auto number = static_cast<float>(stream.normal() + shift.number);
    features.values(unit, 0) = stream.bernoulli(shift.missing) ? kMissing : number;
    features.values(unit, 1) = static_cast<float>(stream.below(3)) * (stream.bernoulli(0.5) ? -0.0f : 1.0f);
    const double place = stream.uniform();
    features.values(unit, 2) =
        stream.bernoulli(shift.unseen) ? 0.0f : static_cast<float>(1 + static_cast<int>(40 * place * place));
  }
  return features;
}

std::vector<FeatureSummary> summaries_of(const data::Features& features, core::RunContext& context) {
  std::vector<std::uint32_t> rows(features.num_units());
  std::iota(rows.begin(), rows.end(), 0u);
  return summarise_features(features, data::RowNumbers{1, features.num_units()}, rows, context);
}

std::vector<FeatureDrift> drift_between(const data::Features& then, const data::Features& now) {
  core::RunContext context(1);
  const std::vector<FeatureSummary> summaries = summaries_of(then, context);
  FeatureCounts counts(summaries);
  counts.add(now.values.view());
  return feature_drift(then.columns, summaries, counts);
}

TEST(FeatureSummary, CountsTheUnitsBetweenQuantilesAndOfTheCommonestLevels) {
  core::RunContext context(2);
  const data::Features features = make_features(20'000, 1);
  const std::vector<FeatureSummary> summaries = summaries_of(features, context);
  ASSERT_EQ(summaries.size(), 3u);
  EXPECT_EQ(summaries[0].cuts.size(), kSummaryBins - 1);
  EXPECT_NEAR(summaries[0].cuts[9], 0.0f, 0.05f);
  EXPECT_NEAR(static_cast<double>(summaries[0].missing), 2000.0, 200.0);
  for (const std::uint64_t count : summaries[0].counts) EXPECT_NEAR(static_cast<double>(count), 900.0, 30.0);
  EXPECT_EQ(summaries[1].cuts, (std::vector<float>{0.0f, 1.0f}));
  EXPECT_FALSE(std::signbit(summaries[1].cuts[0]));
  EXPECT_EQ(summaries[2].levels.size(), kSummaryLevels);
  EXPECT_EQ(summaries[2].levels[0], 1u);
  FeatureCounts same(summaries);
  same.add(features.values.view());
  for (std::size_t feature = 0; feature < 3; ++feature) {
    const auto& counts = summaries[feature].counts;
    EXPECT_EQ(same.counts(feature), counts);
    EXPECT_EQ(same.missing(feature), summaries[feature].missing);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), summaries[feature].missing), 20'000u);
    EXPECT_TRUE(is_good(summaries[feature], features.columns[feature]));
    EXPECT_FALSE(is_good(summaries[feature], features.columns[feature == 2 ? 0 : 2]));
  }
}

TEST(FeatureSummary, IsTheSameInAnyOrderAndForAnyNumberOfThreads) {
  core::RunContext one(1);
  core::RunContext eight(8);
  const data::Features features = make_features(150'000, 2);  // more than are kept
  std::vector<std::uint32_t> rows(features.num_units());
  std::iota(rows.begin(), rows.end(), 0u);
  const data::Ids ids = data::RowNumbers{1, features.num_units()};
  const std::vector<FeatureSummary> first = summarise_features(features, ids, rows, one);
  std::reverse(rows.begin(), rows.end());
  EXPECT_EQ(summarise_features(features, ids, rows, eight), first);
  const std::uint64_t kept = std::accumulate(first[1].counts.begin(), first[1].counts.end(), first[1].missing);
  EXPECT_NEAR(static_cast<double>(kept), 131'072.0, 2000.0);
  FeatureCounts whole(first);
  whole.add(features.values.view());
  FeatureCounts parts(first);
  for (const std::size_t begin : {std::size_t{100'000}, std::size_t{0}, std::size_t{70'001}}) {
    const std::size_t end = begin == 0 ? 70'001 : begin == 100'000 ? 150'000 : 100'000;
    FeatureCounts part(first);
    part.add(features.values.view().slice(begin, end - begin));
    parts.add(part);
  }
  EXPECT_EQ(parts.num_units(), whole.num_units());
  for (std::size_t feature = 0; feature < 3; ++feature) {
    EXPECT_EQ(parts.counts(feature), whole.counts(feature));
    EXPECT_EQ(parts.missing(feature), whole.missing(feature));
  }
}

TEST(FeatureDrift, DoesNotAlarmForOtherUnitsOfTheSameKind) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    for (const std::size_t units : {std::size_t{30}, std::size_t{300}, std::size_t{10'000}}) {
      const auto drift = drift_between(make_features(6000, 100 + seed), make_features(units, 200 + seed));
      EXPECT_EQ(drift_warning(drift), "") << "seed " << seed << ", units " << units;
    }
  }
}

TEST(FeatureDrift, AlarmsAndNamesTheWorst) {
  const data::Features then = make_features(6000, 1);
  auto drift = drift_between(then, make_features(10'000, 2, {.number = 0.6}));
  EXPECT_TRUE(drift[0].stability.drifts());
  EXPECT_FALSE(drift[0].missing.drifts());
  EXPECT_FALSE(drift[1].drifts());
  EXPECT_FALSE(drift[2].drifts());
  EXPECT_NEAR(drift[0].stability.now, 0.36, 0.08);  // of a normal number shifted by d standard deviations: about d^2
  EXPECT_TRUE(
      drift_warning(drift).starts_with("1 of 3 features differ from those of the training units: number "
                                       "(stability index 0.3"))
      << drift_warning(drift);
  drift = drift_between(then, make_features(10'000, 2, {.missing = 0.3, .unseen = 0.4}));
  EXPECT_TRUE(drift[0].missing.drifts());
  EXPECT_FALSE(drift[0].stability.drifts());
  EXPECT_TRUE(drift[2].unknown.drifts());
  const std::string warning = drift_warning(drift);
  EXPECT_NE(warning.find("number (missing 29 % instead of 10 %)"), std::string::npos) << warning;  // of 30, drawn
  EXPECT_NE(warning.find("city (rare or unseen levels 40 % instead of 1 %)"), std::string::npos) << warning;
  EXPECT_LT(warning.find("city"), warning.find("number"));
}

TEST(FeatureDrift, KnowsAColumnThatWasOrIsEmpty) {
  const auto drift = drift_between(make_features(3000, 1, {.missing = 1.0}), make_features(3000, 2));
  EXPECT_TRUE(drift[0].missing.drifts());
  EXPECT_FALSE(drift[0].stability.drifts());
  const auto other = drift_between(make_features(3000, 1), make_features(3000, 2, {.missing = 1.0}));
  EXPECT_TRUE(other[0].missing.drifts());
}

TEST(FeatureSummary, FromAFileMustMakeSense) {
  const data::FeatureColumn number{"x", false, {}};
  const data::FeatureColumn city{"c", true, {data::kPooledLevel, "a", "b"}};
  EXPECT_TRUE(is_good({{1.0f, 2.0f}, {}, {1, 2, 3}, 0}, number));
  EXPECT_FALSE(is_good({{2.0f, 1.0f}, {}, {1, 2, 3}, 0}, number));
  EXPECT_FALSE(is_good({{1.0f, 1.0f}, {}, {1, 2, 3}, 0}, number));
  EXPECT_FALSE(is_good({{kMissing, 1.0f}, {}, {1, 2, 3}, 0}, number));
  EXPECT_FALSE(is_good({{1.0f, 2.0f}, {}, {1, 2}, 0}, number));
  EXPECT_FALSE(is_good({{1.0f, 2.0f}, {}, {1, 2, std::uint64_t{1} << 63}, 0}, number));
  EXPECT_FALSE(is_good({{1.0f}, {1}, {1, 2}, 0}, number));
  EXPECT_TRUE(is_good({{}, {2, 1}, {0, 1, 2, 0}, 5}, city));
  EXPECT_FALSE(is_good({{}, {2, 2}, {0, 1, 2, 0}, 5}, city));
  EXPECT_FALSE(is_good({{}, {3}, {0, 1, 2}, 5}, city));
  EXPECT_FALSE(is_good({{}, {0}, {0, 1, 2}, 5}, city));
  EXPECT_FALSE(is_good({{}, {1}, {0, 1}, 5}, city));
}

}  // namespace
}  // namespace dfcl::model
