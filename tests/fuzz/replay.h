// SPDX-License-Identifier: Apache-2.0
//
// Replays corpora through their targets: what fuzzers found once stays mended.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/fuzz/targets.h"

namespace dfcl::fuzz {

inline void replay(const Target& target) {
  SCOPED_TRACE(target.name);
  std::size_t count = 0;
  const std::filesystem::path folder = std::filesystem::path(DFCL_SOURCE_DIR) / "tests/fuzz/corpus" / target.name;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NO_THROW(target.run(bytes));
    // Cut short and with a bit turned, at a few places each: cheap, and where most findings are.
    for (std::size_t part = 1; part < 8; ++part) {
      EXPECT_NO_THROW(target.run(std::string_view(bytes).substr(0, bytes.size() * part / 8)));
      std::string turned = bytes;
      if (!turned.empty()) turned[turned.size() * part / 8] ^= static_cast<char>(1 << part);
      EXPECT_NO_THROW(target.run(turned));
    }
    ++count;
  }
  EXPECT_GT(count, 0u);
}

}  // namespace dfcl::fuzz
