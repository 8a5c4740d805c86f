// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/checkpoint.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "../io/temporary_folder.h"
#include "dfcl/core/error.h"

namespace dfcl::train {
namespace {

MemberState sample_state() {
  MemberState state;
  state.epochs_done = 3;
  state.parameters = {1.0f, -2.5f, 0.1f};
  state.warm_parameters = {7.0f, 8.0f, 9.0f};
  state.adam_mean = {0.5f, 0.25f, 0.125f};
  state.adam_mean_square = {1e-20f, 2e-20f, 3e-20f};
  state.adam_step = 4'000'000'000'000;
  state.multipliers = {0.1, 1.0 / 3.0};
  state.temperature = 0.7;
  EpochRecord record;
  record.epoch = 3;
  record.prediction_loss = 0.1;
  record.validation_value = 12.5;
  record.went_back = true;
  state.record = {record};
  return state;
}

MemberState empty_state() {
  MemberState state;
  state.parameters = state.adam_mean = state.adam_mean_square = {0.0f, 0.0f, 0.0f};
  return state;
}

core::ErrorKind refusal(const Checkpoint& checkpoint, MemberState state = empty_state()) {
  try {
    (void)checkpoint.load("member-0", state);
  } catch (const core::Error& error) {
    return error.kind();
  }
  return core::ErrorKind::internal;
}

TEST(Checkpoint, WhatIsSavedIsLoadedExactly) {
  const io::TemporaryFolder folder;
  const MemberState saved = sample_state();
  Checkpoint(folder.file("a/b"), 17).save("member-0", saved);
  MemberState loaded = empty_state();
  ASSERT_TRUE(Checkpoint(folder.file("a/b"), 17).load("member-0", loaded));
  EXPECT_EQ(loaded.epochs_done, saved.epochs_done);
  EXPECT_EQ(loaded.parameters, saved.parameters);
  EXPECT_EQ(loaded.warm_parameters, saved.warm_parameters);
  EXPECT_EQ(loaded.adam_mean, saved.adam_mean);
  EXPECT_EQ(loaded.adam_mean_square, saved.adam_mean_square);
  EXPECT_EQ(loaded.adam_step, saved.adam_step);
  EXPECT_EQ(loaded.multipliers, saved.multipliers);
  EXPECT_EQ(loaded.temperature, saved.temperature);
  ASSERT_EQ(loaded.record.size(), 1u);
  EXPECT_EQ(loaded.record[0].prediction_loss, 0.1);
  EXPECT_EQ(loaded.record[0].validation_value, 12.5);
  EXPECT_TRUE(loaded.record[0].went_back);
  EXPECT_EQ(loaded.record[0].validation_loss, std::nullopt);
}

TEST(Checkpoint, PartsThatAreNotThereYetAreEmptyAgain) {
  const io::TemporaryFolder folder;
  MemberState saved = sample_state();
  saved.warm_parameters = {};
  saved.multipliers = {};
  const Checkpoint checkpoint(folder.file("c"), 1);
  checkpoint.save("member-0", saved);
  MemberState loaded = sample_state();
  ASSERT_TRUE(checkpoint.load("member-0", loaded));
  EXPECT_TRUE(loaded.warm_parameters.empty());
  EXPECT_TRUE(loaded.multipliers.empty());
  EXPECT_TRUE(loaded.multipliers.empty());
}

TEST(Checkpoint, NothingToGoOnWithIsNoError) {
  const io::TemporaryFolder folder;
  MemberState state = empty_state();
  EXPECT_FALSE(Checkpoint(folder.file("c"), 1).load("member-0", state));
  EXPECT_FALSE(Checkpoint("", 1).load("member-0", state));
  Checkpoint("", 1).save("member-0", state);
  EXPECT_TRUE(folder.holds_only({"c"}));
}

TEST(Checkpoint, ThatOfAnotherRunIsRefused) {
  const io::TemporaryFolder folder;
  Checkpoint(folder.file("c"), 17).save("member-0", sample_state());
  EXPECT_EQ(refusal(Checkpoint(folder.file("c"), 18)), core::ErrorKind::usage);
}

TEST(Checkpoint, ThatOfAnotherNetworkIsRefused) {
  const io::TemporaryFolder folder;
  const Checkpoint checkpoint(folder.file("c"), 17);
  MemberState state = sample_state();
  checkpoint.save("member-0", state);
  MemberState smaller = empty_state();
  smaller.parameters.pop_back();
  EXPECT_EQ(refusal(checkpoint, smaller), core::ErrorKind::file);
  state.warm_parameters.pop_back();
  checkpoint.save("member-0", state);
  EXPECT_EQ(refusal(checkpoint), core::ErrorKind::file);
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
    MemberState state = empty_state();
    EXPECT_THROW((void)checkpoint.load("member-0", state), core::Error) << "flipped at " << place;
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
