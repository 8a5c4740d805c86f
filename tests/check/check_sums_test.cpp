// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/check_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "dfcl/check/arm_means.h"
#include "dfcl/check/draws.h"
#include "dfcl/core/bytes.h"
#include "dfcl/core/error.h"
#include "dfcl/core/random.h"
#include "fair_trial.h"

namespace dfcl::check {
namespace {

const std::vector<double> kShares{0.5, 0.3, 0.2};

struct Checked {
  data::Trial trial = fair_trial(600, 9, kShares, 4);
  data::Study study = study_with_shares(kShares);
  core::RunContext context{2};
  CheckElsewhere checking{trial, study, trial.num_units(), {}, context};
  std::string task = checking.task();
  std::string sums;

  Checked() {
    const CheckTask read = CheckTask::from_bytes(task);
    CheckSums added(read);
    added.add(trial);
    sums = added.to_bytes();
  }
};

std::string resealed(std::string bytes) {
  bytes.resize(bytes.size() - 8);
  const std::uint64_t checksum = core::hash_text(bytes);
  bytes.append(reinterpret_cast<const char*>(&checksum), 8);
  return bytes;
}

// Parses both and, where they are accepted, draws the conclusion.
void conclude(const Checked& checked, const std::string& task_bytes, const std::string& sum_bytes) {
  try {
    const CheckTask task = CheckTask::from_bytes(task_bytes);
    CheckSums sums(task);
    sums.merge_bytes(sum_bytes);
    for (std::size_t feature = 0; feature < sums.table().num_features; ++feature) {
      for (std::size_t arm = 0; arm < kShares.size() && arm < task.num_arms; ++arm)
        EXPECT_LE(sums.table().cell(arm, feature).observed, sums.table().units_per_arm[arm]);
    }
    if (task.num_arms == kShares.size()) sums.arms(checked.trial);
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::data);
  }
}

TEST(CheckSumBytes, AreRefusedWhereTheyAreCutOrDamaged) {
  const Checked checked;
  const CheckTask task = CheckTask::from_bytes(checked.task);
  for (std::size_t size = 0; size < checked.sums.size(); size += 1 + checked.sums.size() / 97) {
    CheckSums sums(task);
    EXPECT_THROW(sums.merge_bytes(checked.sums.substr(0, size)), core::Error);
    std::string damaged = checked.sums;
    damaged[size] = static_cast<char>(damaged[size] ^ 16);
    EXPECT_THROW(sums.merge_bytes(damaged), core::Error);
  }
  for (std::size_t size = 0; size < checked.task.size(); size += 1 + checked.task.size() / 97)
    EXPECT_THROW(CheckTask::from_bytes(checked.task.substr(0, size)), core::Error);
}

TEST(CheckSumBytes, ThatSomebodyForgedEndInAnErrorOrInSums) {
  const Checked checked;
  core::RandomStream stream(2212, core::stream_purpose("check sums test"), 0);
  for (int i = 0; i < 4000; ++i) {
    std::string task = checked.task;
    std::string sums = checked.sums;
    std::string& forged = i % 2 == 0 ? task : sums;
    for (int flips = 0; flips < 1 + i % 4; ++flips) {
      const std::size_t place = stream.below(static_cast<std::uint32_t>(forged.size() - 8));
      forged[place] = static_cast<char>(stream.bernoulli(0.5) ? 0xff : stream.below(256));
    }
    if (&forged == &task) {  // sums that say they are of this task
      const std::uint64_t hash = core::hash_text(resealed(task));
      sums.replace(8, 8, reinterpret_cast<const char*>(&hash), 8);
    }
    conclude(checked, resealed(task), resealed(sums));
  }
}

TEST(CheckTaskBytes, CannotAskForColumnsThatNoFeatureHas) {
  core::ByteWriter bytes;
  bytes.write(std::uint64_t{0x3174636863666364u});
  bytes.write_count(256);        // arms
  bytes.write_count(0);          // guardrails
  bytes.write(false);            // weighted
  bytes.write_count(1'000'000);  // columns: 283 GB of sums
  bytes.write_count(0);          // features
  for (int i = 0; i < 2; ++i) bytes.write(0.0);
  EXPECT_THROW(CheckTask::from_bytes(std::move(bytes).seal()), core::Error);
}

TEST(CheckSums, KnowSmallSpreadsAroundLargeMeans) {
  Checked checked;
  core::RandomStream stream(7, core::stream_purpose("check sums test"), 1);
  for (std::size_t row = 0; row < checked.trial.num_units(); ++row) {
    checked.trial.revenue[row] = static_cast<float>(4'000'000.0 + std::floor(4.0 * stream.normal()));
  }
  const CheckTask task = CheckTask::from_bytes(
      CheckElsewhere(checked.trial, checked.study, checked.trial.num_units(), {}, checked.context).task());
  CheckSums sums(task);
  sums.add(checked.trial);
  const std::vector<ArmSummary> here =
      arm_means(checked.trial, groups_of(checked.trial, checked.context), checked.context);
  const std::vector<ArmSummary> arms = sums.arms(checked.trial);
  for (std::size_t arm = 0; arm < kShares.size(); ++arm) {
    EXPECT_GT(here[arm].revenue.high - here[arm].revenue.low, 0.5);
    EXPECT_NEAR(arms[arm].revenue.low, here[arm].revenue.low, 1e-7) << "arm " << arm;
    EXPECT_NEAR(arms[arm].revenue.high, here[arm].revenue.high, 1e-7) << "arm " << arm;
  }
}

}  // namespace
}  // namespace dfcl::check
