// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/checkpoint.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "../io/temporary_folder.h"
#include "dfcl/core/error.h"

namespace dfcl::train {
namespace {

io::TensorFile sample_state() {
  io::TensorFile state;
  state.metadata["more"] = "text";
  state.tensors.push_back({"parameters", {3}, std::vector<float>{1.0f, -2.5f, 0.1f}});
  state.tensors.push_back({"counts", {2}, std::vector<std::int64_t>{3, 4'000'000'000'000}});
  return state;
}

core::ErrorKind refusal(const Checkpoint& checkpoint) {
  try {
    (void)checkpoint.load("member-0");
  } catch (const core::Error& error) {
    return error.kind();
  }
  return core::ErrorKind::internal;
}

TEST(Checkpoint, WhatIsSavedIsLoadedExactly) {
  const io::TemporaryFolder folder;
  Checkpoint(folder.file("a/b"), 17).save("member-0", sample_state());
  const auto loaded = Checkpoint(folder.file("a/b"), 17).load("member-0");
  ASSERT_TRUE(loaded.has_value());
  for (const io::Tensor& tensor : sample_state().tensors) {
    ASSERT_NE(loaded->find(tensor.name), nullptr);
    EXPECT_EQ(*loaded->find(tensor.name), tensor);
  }
  EXPECT_EQ(loaded->metadata.at("more"), "text");
  const Checkpoint numbers(folder.file("a/b"), 17);
  numbers.save("choice", std::vector<double>{0.1, 1.0 / 3.0});
  std::vector<double> read;
  ASSERT_TRUE(numbers.load("choice", read));
  EXPECT_EQ(read, (std::vector<double>{0.1, 1.0 / 3.0}));
}

TEST(Checkpoint, NothingToGoOnWithIsNoError) {
  const io::TemporaryFolder folder;
  EXPECT_FALSE(Checkpoint(folder.file("c"), 1).load("member-0"));
  EXPECT_FALSE(Checkpoint("", 1).load("member-0"));
  Checkpoint("", 1).save("member-0", sample_state());
  EXPECT_TRUE(folder.holds_only({"c"}));
}

TEST(Checkpoint, ThatOfAnotherRunIsRefused) {
  const io::TemporaryFolder folder;
  Checkpoint(folder.file("c"), 17).save("member-0", sample_state());
  EXPECT_EQ(refusal(Checkpoint(folder.file("c"), 18)), core::ErrorKind::usage);
}

TEST(Checkpoint, ADamagedFileIsRefusedAtEveryByte) {
  const io::TemporaryFolder folder;
  const Checkpoint checkpoint(folder.file("c"), 17);
  checkpoint.save("member-0", sample_state());
  const std::string path = folder.file("c/member-0.safetensors");
  std::ifstream stream(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  const auto write = [&](const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; };
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    write(whole.substr(0, length));
    EXPECT_EQ(refusal(checkpoint), core::ErrorKind::file) << "cut at " << length;
  }
  for (std::size_t place = 0; place < whole.size(); place += 3) {
    std::string flipped = whole;
    flipped[place] = static_cast<char>(flipped[place] ^ 4);
    write(flipped);
    EXPECT_THROW((void)checkpoint.load("member-0"), core::Error) << "flipped at " << place;
  }
}

TEST(Checkpoint, AFolderThatCannotBeMadeIsAFileError) {
  const io::TemporaryFolder folder;
  const std::string file = folder.write("taken", "x");
  try {
    Checkpoint checkpoint(file + "/c", 1);
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::file);
  }
}

}  // namespace
}  // namespace dfcl::train
