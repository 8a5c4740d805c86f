// SPDX-License-Identifier: Apache-2.0
//
// Models that version 0.1 wrote load and predict the same (tests/model/data/README.md says how they were made): the
// same bytes on the kind of machine, and with the compiler options, that made them; elsewhere products round
// differently.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "dfcl/core/error.h"
#include "dfcl/io/tensors/safetensors.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"

namespace dfcl::model {
namespace {

std::string data_file(const std::string& name) {
  return (std::filesystem::path(DFCL_SOURCE_DIR) / "tests/model/data" / name).string();
}

// Rows of a table of numbers, without its head.
std::vector<std::vector<float>> numbers_in(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::vector<float>> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<float>& row = rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(std::strtof(cell.c_str(), nullptr));
  }
  return rows;
}

class Format1 : public ::testing::TestWithParam<const char*> {};

// Far below what any change of the computation would make, above what the rounding of products can.
float tolerance(float expected) { return 1e-5f * std::max(1.0f, std::abs(expected)); }

TEST_P(Format1, PredictsTheSame) {
  const std::string name = GetParam();
  const Model model = read_model(data_file(name + ".safetensors"));
  core::RunContext context(2);
  const data::Prediction found = predict_file(model, data_file("units.csv"), context);
  const std::vector<std::vector<float>> expected = numbers_in(data_file(name + ".csv"));
  ASSERT_EQ(found.num_units(), expected.size());
  ASSERT_EQ(expected.size(), 40u);
  const std::size_t num_arms = model.arms.size();
  for (std::size_t unit = 0; unit < expected.size(); ++unit) {
    ASSERT_EQ(expected[unit].size(), 1 + 2 * num_arms);
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      const float revenue = expected[unit][1 + arm];
      const float cost = expected[unit][1 + num_arms + arm];
      EXPECT_NEAR(found.revenue(unit, arm), revenue, tolerance(revenue)) << "unit " << unit << ", arm " << arm;
      EXPECT_NEAR(found.cost(unit, arm), cost, tolerance(cost)) << "unit " << unit << ", arm " << arm;
    }
  }
}

TEST_P(Format1, IsWrittenInTheFormatOfToday) {
  const Model model = read_model(data_file(std::string(GetParam()) + ".safetensors"));
  const std::string bytes = io::safetensors_bytes(tensor_file_of(model));
  const Model again = model_of(io::parse_safetensors(bytes, "model"), "model");
  EXPECT_TRUE(io::safetensors_bytes(tensor_file_of(again)) == bytes);
  EXPECT_EQ(tensor_file_of(again).metadata.at("format_version"), "2");
}

TEST_P(Format1, IsRefusedWithPartsThatItNeverHad) {
  const io::TensorFile good = io::read_safetensors(data_file(std::string(GetParam()) + ".safetensors"));
  EXPECT_NO_THROW((void)model_of(good, "m"));
  const auto refused = [&](auto&& change) {
    io::TensorFile file = good;
    change(file);
    try {
      (void)model_of(file, "m");
      ADD_FAILURE() << "accepted";
    } catch (const core::Error& error) {
      EXPECT_EQ(error.kind(), core::ErrorKind::file) << error.what();
    }
  };
  refused([](io::TensorFile& file) { file.metadata["more"] = "x"; });
  refused([](io::TensorFile& file) { file.metadata.erase("outcomes"); });
  refused([](io::TensorFile& file) { file.metadata["outcomes"] = "{}"; });
  refused([](io::TensorFile& file) { file.metadata["members"] = "7"; });
  refused([](io::TensorFile& file) { file.tensors.pop_back(); });
  refused([](io::TensorFile& file) { file.tensors.push_back({"other", {1}, std::vector<float>{1.0f}}); });
}

INSTANTIATE_TEST_SUITE_P(Models, Format1, ::testing::Values("network_0_1", "forest_0_1"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace dfcl::model
