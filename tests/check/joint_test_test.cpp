// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/joint_test.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dfcl::check {
namespace {

// Total covariance and deviations of rows x columns in arms.
struct Summary {
  std::vector<double> covariance;
  std::vector<double> deviations;
  std::vector<double> counts;
};

Summary summarise(const std::vector<std::vector<double>>& rows, const std::vector<std::size_t>& arms,
                  std::size_t num_arms) {
  const std::size_t size = rows[0].size();
  std::vector<double> mean(size);
  Summary summary{std::vector<double>(size * size), std::vector<double>(num_arms * size),
                  std::vector<double>(num_arms)};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < size; ++i) mean[i] += row[i] / static_cast<double>(rows.size());
  }
  for (const std::size_t arm : arms) summary.counts[arm] += 1.0;
  for (std::size_t unit = 0; unit < rows.size(); ++unit) {
    for (std::size_t i = 0; i < size; ++i) {
      summary.deviations[arms[unit] * size + i] += (rows[unit][i] - mean[i]) / summary.counts[arms[unit]];
      for (std::size_t j = 0; j < size; ++j) {
        summary.covariance[i * size + j] +=
            (rows[unit][i] - mean[i]) * (rows[unit][j] - mean[j]) / static_cast<double>(rows.size() - 1);
      }
    }
  }
  return summary;
}

const std::vector<std::vector<double>> kRows = {{2.1, 1.0}, {3.4, 0.2}, {1.9, 2.2}, {4.4, 1.1}, {5.0, 0.3},
                                                {3.1, 2.4}, {6.2, 1.9}, {4.8, 0.7}, {5.9, 2.8}, {2.7, 1.5},
                                                {3.3, 0.9}, {4.1, 2.0}, {5.2, 1.2}, {2.2, 0.1}, {6.6, 2.5}};
const std::vector<std::size_t> kThreeArms = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2};

TEST(JointTest, IsTheAnalysisOfVarianceForOneColumn) {
  std::vector<std::vector<double>> rows;
  for (const auto& row : kRows) rows.push_back({row[0]});
  const Summary summary = summarise(rows, kThreeArms, 3);
  const JointTest test = joint_test(summary.covariance, summary.deviations, summary.counts, 1);
  ASSERT_TRUE(test.run);
  EXPECT_NEAR(test.p, 0.47582854749726033, 1e-9);  // expected.py: analysis of variance
}

TEST(JointTest, IsHotellingsForTwoArms) {
  std::vector<std::size_t> arms;
  for (const std::size_t arm : kThreeArms) arms.push_back(arm == 1 ? 1 : 0);
  const Summary summary = summarise(kRows, arms, 2);
  const JointTest test = joint_test(summary.covariance, summary.deviations, summary.counts, 2);
  ASSERT_TRUE(test.run);
  EXPECT_NEAR(test.p, 0.3342134868827985, 1e-9);  // expected.py: Hotelling
}

TEST(JointTest, DropsDependentAndConstantColumns) {
  std::vector<std::vector<double>> rows;
  for (const auto& row : kRows) rows.push_back({row[0], 0.0, row[1], row[0] - 3.0 * row[1], row[1]});
  const Summary wide = summarise(rows, kThreeArms, 3);
  const Summary narrow = summarise(kRows, kThreeArms, 3);
  const JointTest with = joint_test(wide.covariance, wide.deviations, wide.counts, 5);
  const JointTest without = joint_test(narrow.covariance, narrow.deviations, narrow.counts, 2);
  EXPECT_EQ(with.rank, 2u);
  EXPECT_NEAR(with.statistic, without.statistic, 1e-9);
  EXPECT_NEAR(with.p, without.p, 1e-12);
}

TEST(JointTest, DoesNotDependOnUnitsOfMeasure) {
  std::vector<std::vector<double>> rows;
  for (const auto& row : kRows) rows.push_back({1e6 * row[0] + 5e6, 1e-4 * row[1]});
  const Summary scaled = summarise(rows, kThreeArms, 3);
  const Summary plain = summarise(kRows, kThreeArms, 3);
  EXPECT_NEAR(joint_test(scaled.covariance, scaled.deviations, scaled.counts, 2).p,
              joint_test(plain.covariance, plain.deviations, plain.counts, 2).p, 1e-9);
}

TEST(JointTest, IsNotRunWithMoreColumnsThanDraws) {
  const std::vector<double> covariance = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const std::vector<double> deviations(6, 0.1);
  const std::vector<double> counts = {3, 3};
  EXPECT_FALSE(joint_test(covariance, deviations, counts, 3).run);
}

}  // namespace
}  // namespace dfcl::check
