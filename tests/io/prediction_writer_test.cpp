// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/predictions/prediction_writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "dfcl/core/error.h"
#include "dfcl/io/predictions/prediction_file.h"
#include "dfcl/io/predictions/prediction_stream.h"
#include "temporary_folder.h"

namespace dfcl::io {
namespace {

data::Prediction piece_of(std::size_t first, std::size_t count) {
  data::Prediction piece;
  piece.arms.labels = {"0", "mail"};
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
    PredictionWriter writer(folder.file("p.parquet"), piece_of(1, 0), data::ColumnType::int64,
                            {"prediction", "0", "predict", {}});
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
  { PredictionWriter(folder.file("p.csv"), piece_of(1, 0), data::ColumnType::text, {}).write(piece_of(1, 10)); }
  EXPECT_TRUE(folder.holds_only({}));
}

data::Prediction index_piece() {
  data::Prediction piece = piece_of(1, 3);
  piece.arms = {{"big", "none"}, 1, false};
  piece.is_index = true;
  piece.model = "00ff";
  piece.method = "drm";
  piece.price = {0.15, 0.0};
  for (std::size_t unit = 0; unit < 3; ++unit) {
    piece.cost(unit, 0) = 0.15f;
    piece.cost(unit, 1) = 0.0f;
  }
  return piece;
}

TEST(PredictionWriter, EveryFormatSaysWhatThePredictionIs) {
  const TemporaryFolder folder;
  core::RunContext context(1);
  const data::Prediction piece = index_piece();
  for (const char* name : {"p.parquet", "p.arrow", "p.csv", "p.csv.gz"}) {
    PredictionWriter writer(folder.file(name), piece, piece.ids.type(), {"prediction", "1", "predict", {}});
    writer.write(piece);
    writer.commit();
    const data::Prediction read = read_prediction(folder.file(name), "", context).prediction;
    EXPECT_EQ(static_cast<const data::PredictionFacts&>(read), static_cast<const data::PredictionFacts&>(piece))
        << name;
    EXPECT_EQ(read.price[0], 0.15) << name;
    EXPECT_EQ(read_prediction_facts(folder.file(name)), piece) << name;
  }
}

TEST(PredictionWriter, ACostThatIsNotThePriceIsRefused) {
  const TemporaryFolder folder;
  core::RunContext context(1);
  data::Prediction piece = index_piece();
  piece.cost(1, 0) = 0.16f;
  PredictionWriter writer(folder.file("p.parquet"), piece, piece.ids.type(), {"prediction", "1", "predict", {}});
  writer.write(piece);
  writer.commit();
  try {
    (void)read_prediction(folder.file("p.parquet"), "", context);
    FAIL() << "nothing was thrown";
  } catch (const core::Error& error) {
    EXPECT_NE(error.details().where.find("unit '2', column 'cost_big'"), std::string::npos) << error.what();
    EXPECT_EQ(error.details().found, "0.16");
    EXPECT_EQ(error.details().expected, "0.15");
  }
  const auto source = open_prediction(folder.file("p.parquet"), {"big", "none"}, context);
  data::Batch batch;
  EXPECT_THROW(source->next(batch), core::Error);
}

TEST(PredictionWriter, FilesOfTwoModelsAreNotOnePrediction) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("all"));
  core::RunContext context(1);
  data::Prediction piece = index_piece();
  for (const char* name : {"all/1.csv", "all/2.csv"}) {
    PredictionWriter writer(folder.file(name), piece, piece.ids.type(), {"prediction", "1", "predict", {}});
    writer.write(piece);
    writer.commit();
    piece.model = "00fe";
  }
  EXPECT_THROW((void)read_prediction(folder.file("all"), "", context), core::Error);
}

}  // namespace
}  // namespace dfcl::io
