// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/column.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "dfcl/core/error.h"
#include "dfcl/core/matrix.h"

namespace dfcl::core {
namespace {

class Folder : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "dfcl-column-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  std::string path_;
};

using ColumnInFile = Folder;

TEST_F(ColumnInFile, HoldsWhatAColumnOnTheHeapHolds) {
  Column<std::uint32_t> heap;
  Column<std::uint32_t> file(Memory::scratch(path_));
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    heap.push_back(i * 7919);
    file.push_back(i * 7919);
  }
  EXPECT_EQ(heap, file);
  heap.resize(100'010);
  file.resize(100'010);
  EXPECT_EQ(file.back(), 0u);
  EXPECT_EQ(heap, file);
  file.shrink_to_fit();
  EXPECT_EQ(heap, file);
  const Column<std::uint32_t> copy = file;
  file[3] = 1;
  EXPECT_EQ(copy[3], 3u * 7919u);
  const Column<std::uint32_t> moved = std::move(file);
  EXPECT_EQ(moved[3], 1u);
  EXPECT_TRUE(file.empty());
  EXPECT_TRUE(std::filesystem::is_empty(path_));  // files without a name
}

TEST_F(ColumnInFile, WithANameStaysAndIsReadBack) {
  const std::string path = path_ + "/numbers";
  {
    Column<float> written(Memory::new_file(path));
    for (int i = 0; i < 1000; ++i) written.push_back(static_cast<float>(i));
    written.shrink_to_fit();
  }
  EXPECT_EQ(std::filesystem::file_size(path), 4000u);
  Column<float> read(Memory::of_file(path, 4000));
  ASSERT_EQ(read.size(), 1000u);
  EXPECT_EQ(read[999], 999.0f);
  read[999] = 0.0f;  // seen here only
  EXPECT_EQ(Column<float>(Memory::of_file(path, 4000))[999], 999.0f);
  EXPECT_THROW((void)Memory::of_file(path, 3996), Error);
  EXPECT_THROW((void)Memory::of_file(path_ + "/none", 4), Error);
  EXPECT_THROW((void)Memory::of_file(path_, 4096), Error);
  EXPECT_THROW(Memory::new_file(path).resize(8), Error);  // never over what is there
  EXPECT_THROW(Memory::scratch(path_ + "/none").resize(8), Error);
}

TEST_F(ColumnInFile, MatricesGrowInFilesToo) {
  Matrix<float> matrix(Memory::scratch(path_), 0, 3);
  for (std::size_t rows = 1; rows <= 5000; ++rows) {
    matrix.resize(rows);
    std::iota(matrix.row(rows - 1).begin(), matrix.row(rows - 1).end(), static_cast<float>(rows));
  }
  matrix.shrink_to_fit();
  for (std::size_t row = 0; row < 5000; ++row) ASSERT_EQ(matrix(row, 2), static_cast<float>(row + 3));
}

}  // namespace
}  // namespace dfcl::core
