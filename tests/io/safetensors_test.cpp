// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tensors/safetensors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

#include "dfcl/core/error.h"
#include "temporary_folder.h"

namespace dfcl::io {
namespace {

TensorFile small_file() {
  TensorFile file;
  file.metadata = {{"method", "tsm"}, {"study", "a = \"b\"\n\tc\xc3\xa9"}};
  file.tensors = {{"bytes", {5}, std::vector<std::uint8_t>{1, 2, 3, 4, 255}},
                  {"weight", {2, 3}, std::vector<float>{1.5f, -2.0f, 0.0f, 1e-30f, 3e38f, -0.0f}},
                  {"empty", {0, 4}, std::vector<float>{}},
                  {"number", {}, std::vector<double>{0.1}},
                  {"keys", {2}, std::vector<std::int64_t>{-1, std::numeric_limits<std::int64_t>::max()}}};
  return file;
}

// The contents, or nothing where the file is refused. Anything but an Error of kind file in one line fails the test.
std::optional<TensorFile> parse(std::string_view bytes) {
  try {
    return parse_safetensors(bytes, "model");
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::file);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return std::nullopt;
  }
}

std::string reason(std::string_view bytes) {
  try {
    parse_safetensors(bytes, "model");
  } catch (const core::Error& error) {
    return error.what();
  }
  return "accepted";
}

// A file of any header, right or wrong.
std::string with_header(std::string header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, '\0');
}

std::uint64_t header_length(const std::string& bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  return length;
}

TEST(Safetensors, ReadsBackWhatItWroteAndWritesItAgainByteForByte) {
  const std::string bytes = safetensors_bytes(small_file());
  const TensorFile read = parse_safetensors(bytes, "model");
  EXPECT_EQ(read.metadata, small_file().metadata);
  ASSERT_EQ(read.tensors.size(), 5u);
  for (const Tensor& tensor : small_file().tensors) {
    ASSERT_NE(read.find(tensor.name), nullptr);
    EXPECT_EQ(*read.find(tensor.name), tensor);
  }
  EXPECT_EQ(read.find("absent"), nullptr);
  EXPECT_EQ(safetensors_bytes(read), bytes);
}

TEST(Safetensors, AlignsEveryTensorToTheSizeOfItsNumbers) {
  const std::string bytes = safetensors_bytes(small_file());
  EXPECT_EQ(header_length(bytes) % 8, 0u);
  EXPECT_EQ(bytes.size(), 8 + header_length(bytes) + 24 + 24 + 5);
  const TensorFile read = parse_safetensors(bytes, "model");
  EXPECT_EQ(read.tensors.back().name, "bytes");
}

TEST(Safetensors, RefusesAFileCutAtAnyLengthOrLongerThanItWas) {
  const std::string bytes = safetensors_bytes(small_file());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(parse(std::string_view(bytes).substr(0, length))) << "cut at " << length;
  }
  EXPECT_FALSE(parse(bytes + std::string(1, '\0')));
}

TEST(Safetensors, RefusesAFileWithAnyBitOfTheHeaderFlippedOrReadsTheSame) {
  const std::string bytes = safetensors_bytes(small_file());
  const TensorFile whole = parse_safetensors(bytes, "model");
  std::size_t same = 0;
  for (std::size_t bit = 0; bit < 8 * (8 + header_length(bytes)); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    if (const auto read = parse(flipped)) {
      EXPECT_EQ(*read, whole) << "bit " << bit;
      ++same;
    }
  }
  EXPECT_LT(same, 8u);  // a few flips change only how the same text is written
}

TEST(Safetensors, RefusesAFileWithAnyBitOfTheNumbersFlipped) {
  const std::string bytes = safetensors_bytes(small_file());
  for (std::size_t bit = 8 * (8 + header_length(bytes)); bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(parse(flipped)) << "bit " << bit;
  }
}

TEST(Safetensors, AsksForNoMemoryThatTheHeaderDoesNotAccountFor) {
  const TemporaryFolder folder;
  const std::string path = folder.file("sparse.safetensors");
  for (const std::string& start : {safetensors_bytes(small_file()), with_header("{}", 0), std::string(9, '\xff')}) {
    std::ofstream(path, std::ios::binary) << start;
    std::filesystem::resize_file(path, std::uintmax_t{1} << 43);  // 8 TB, none of which is on the disk
    try {
      read_safetensors(path);
      FAIL() << "accepted";
    } catch (const core::Error& error) {
      EXPECT_EQ(error.kind(), core::ErrorKind::file);
    }
  }
}

TEST(Safetensors, RefusesHeadersThatLie) {
  const auto reason_of = [](const std::string& tensors, std::size_t data_bytes) {
    return reason(with_header("{\"__metadata__\":{\"checksum\":\"0\"}," + tensors + "}", data_bytes));
  };
  const std::string good = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  EXPECT_NE(reason_of(good, 8).find("checksum"), std::string::npos);
  EXPECT_NE(reason_of(good + "," + good, 8).find("twice"), std::string::npos);
  EXPECT_NE(reason_of(R"("a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]})", 8).find("twice"),
            std::string::npos);
  EXPECT_NE(reason_of(good, 12).find("no tensor"), std::string::npos);
  EXPECT_NE(reason_of(good, 4).find("outside"), std::string::npos);
  EXPECT_NE(reason_of(good + R"(,"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]})", 8).find("overlap"),
            std::string::npos);
  EXPECT_NE(reason_of(good + R"(,"b":{"dtype":"F32","shape":[1],"data_offsets":[12,16]})", 16).find("hole"),
            std::string::npos);
  EXPECT_NE(reason_of(R"("a":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]})", 8).find("type"), std::string::npos);
  EXPECT_NE(reason_of(R"("a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]})", 8).find("shape"), std::string::npos);
  // 2^62 x 4 x 4 wraps around to 0 without the check.
  EXPECT_NE(reason_of(R"("a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]})", 0).find("shape"),
            std::string::npos);
  EXPECT_NE(reason_of(R"("a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]})", 8).find("malformed"),
            std::string::npos);
  EXPECT_NE(reason_of(R"("a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})", 8).find("malformed"),
            std::string::npos);
  EXPECT_NE(reason_of(R"("a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]})", 8).find("malformed"),
            std::string::npos);
  EXPECT_NE(reason_of(R"("a":{"dtype":"F32","shape":[[2]],"data_offsets":[0,8]})", 8).find("deep"), std::string::npos);
  EXPECT_NE(reason_of(R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1})", 8).find("alone"),
            std::string::npos);
  EXPECT_NE(reason(with_header("{}", 0)).find("metadata"), std::string::npos);
  EXPECT_NE(reason(with_header("{\"__metadata__\":{}}", 0)).find("checksum"), std::string::npos);
  EXPECT_NE(reason(with_header("{\"__metadata__\":{\"a\":1}}", 0)).find("text"), std::string::npos);
  EXPECT_NE(reason(with_header("{" + std::string(kMostHeaderBytes, ' ') + "}", 0)).find("too long"), std::string::npos);
  EXPECT_NE(reason(with_header("{\"a\":" + std::string(500'000, '['), 0)).find("deep"), std::string::npos);
}

TEST(Safetensors, RefusesTooManyTensors) {
  std::string tensors = "{\"__metadata__\":{}";
  for (std::size_t i = 0; i <= kMostTensors; ++i) {
    tensors += fmt::format(",\"{}\":{{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", i);
  }
  EXPECT_NE(reason(with_header(tensors + "}", 0)).find("too many tensors"), std::string::npos);
}

TEST(Safetensors, NeverWritesWhatItWouldRefuse) {
  const auto kind = [](TensorFile file) {
    try {
      safetensors_bytes(std::move(file));
    } catch (const core::Error& error) {
      return error.kind();
    }
    return core::ErrorKind::file;
  };
  TensorFile file = small_file();
  std::get<std::vector<float>>(file.tensors[1].values)[0] = std::nanf("");
  EXPECT_EQ(kind(file), core::ErrorKind::internal);
  file = small_file();
  file.tensors[1].shape = {3, 3};
  EXPECT_EQ(kind(file), core::ErrorKind::internal);
  file = small_file();
  file.tensors[0].name = "weight";
  EXPECT_EQ(kind(file), core::ErrorKind::internal);
  file = small_file();
  file.metadata["long"] = std::string(kMostHeaderBytes, 'x');
  EXPECT_EQ(kind(file), core::ErrorKind::internal);
  file = small_file();
  file.metadata["latin"] = "\xe9";
  EXPECT_EQ(kind(file), core::ErrorKind::data);
}

TEST(Safetensors, KnowsItsFilesByTheirFirstBytesAndReplacesThemWhole) {
  const io::TemporaryFolder folder;
  write_safetensors(folder.file("m.safetensors"), small_file());
  EXPECT_TRUE(is_safetensors(folder.file("m.safetensors")));
  EXPECT_EQ(safetensors_bytes(read_safetensors(folder.file("m.safetensors"))), safetensors_bytes(small_file()));
  EXPECT_FALSE(is_safetensors(folder.write("t.csv", "id,arm,revenue\n1,2,3\n")));
  EXPECT_FALSE(is_safetensors(folder.write("short", "{")));
  EXPECT_FALSE(is_safetensors(folder.file("absent")));
  TensorFile broken = small_file();
  broken.tensors[1].shape = {7};
  EXPECT_THROW(write_safetensors(folder.file("m.safetensors"), broken), core::Error);
  EXPECT_NO_THROW(read_safetensors(folder.file("m.safetensors")));
  EXPECT_TRUE(folder.holds_only({"m.safetensors", "t.csv", "short"}));
  EXPECT_THROW(read_safetensors("/dev/zero"), core::Error);
  EXPECT_THROW(read_safetensors(folder.file("absent")), core::Error);
}

}  // namespace
}  // namespace dfcl::io
