// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/predictions/prediction_writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "dfcl/io/predictions/prediction_file.h"
#include "temporary_folder.h"

namespace dfcl::io {
namespace {

data::Prediction piece_of(std::size_t first, std::size_t count) {
  data::Prediction piece;
  piece.arms = {"0", "mail"};
  piece.ids = data::RowNumbers{first, count};
  piece.revenue = core::Matrix<float>(count, 2);
  piece.cost = core::Matrix<float>(count, 2);
  for (std::size_t unit = 0; unit < count; ++unit) {
    for (std::size_t arm = 0; arm < 2; ++arm) {
      piece.revenue(unit, arm) = static_cast<float>(first + unit) + 0.25f * static_cast<float>(arm);
      piece.cost(unit, arm) = -static_cast<float>(arm * (first + unit));
    }
  }
  return piece;
}

std::string bytes_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

TEST(PredictionWriter, WritesWhatTheReaderReadsAndTheSameBytesHoweverItComes) {
  const TemporaryFolder folder;
  constexpr std::size_t kUnits = 150'000;
  std::string bytes;
  for (const std::size_t step : {kUnits, std::size_t{65'536}, std::size_t{999}}) {
    PredictionWriter writer(folder.file("p.parquet"), {"0", "mail"}, true, {"prediction", "0", "predict", {}});
    for (std::size_t first = 0; first < kUnits; first += step)
      writer.write(piece_of(first + 1, std::min(step, kUnits - first)));
    writer.commit();
    if (bytes.empty()) bytes = bytes_of(folder.file("p.parquet"));
    EXPECT_TRUE(bytes_of(folder.file("p.parquet")) == bytes) << step;
  }
  core::RunContext context(2);
  const data::Prediction read = read_prediction(folder.file("p.parquet"), "", context).prediction;
  const data::Prediction expected = piece_of(1, kUnits);
  EXPECT_EQ(read.arms, expected.arms);
  EXPECT_EQ(read.ids.number(kUnits - 1), static_cast<std::int64_t>(kUnits));
  EXPECT_EQ(std::memcmp(read.revenue.data(), expected.revenue.data(), kUnits * 2 * sizeof(float)), 0);
  EXPECT_EQ(std::memcmp(read.cost.data(), expected.cost.data(), kUnits * 2 * sizeof(float)), 0);
}

TEST(PredictionWriter, LeavesNothingBehindWithoutCommit) {
  const TemporaryFolder folder;
  { PredictionWriter(folder.file("p.csv"), {"0", "mail"}, false, {}).write(piece_of(1, 10)); }
  EXPECT_TRUE(folder.holds_only({}));
}

}  // namespace
}  // namespace dfcl::io
