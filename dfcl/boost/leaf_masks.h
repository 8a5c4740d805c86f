// SPDX-License-Identifier: Apache-2.0
//
// A finished tree in a form that many units go through at once, without walking: every leaf is a bit, and every split
// that a unit answers with "right" takes away the leaves of its left side. The first bit that is left is the unit's
// leaf. Splits are looked at one after the other for a block of units, in vectors, so a tree of 31 leaves costs some
// ten instructions a unit. Splits by arm do not depend on the unit: their masks are known for each arm
// beforehand, so that all arms together cost one pass over the splits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/boost/binned_units.h"
#include "dfcl/boost/grow_tree.h"
#include "dfcl/boost/options.h"

namespace dfcl::boost {

inline constexpr std::size_t kWordLeaves = 31;  // bits of a word; the last stays free, so that words are not negative
inline constexpr std::size_t kMostWords = (kMostLeaves + kWordLeaves - 1) / kWordLeaves;

// The columns of a block of units, by their number.
struct BlockColumns {
  const std::uint8_t* first = nullptr;  // column 0
  std::size_t stride = 0;               // from one column to the next
  const std::uint8_t* at(std::size_t column) const { return first + column * stride; }
};

class LeafMasks {
 public:
  // arm_column: the number of the column that is the arm's; num_arms: 0 where the arm of a unit is in its column,
  // else the arms to prepare for.
  LeafMasks(const Tree& tree, std::size_t arm_column, std::size_t num_arms);

  // Adds the value of each unit's leaf to a block of kBlockUnits numbers.
  void add_values(const BlockColumns& columns, float* to) const;
  // The same for all arms, each a block of its own, one after the other.
  void add_arm_values(const BlockColumns& columns, float* to) const;

 private:
  struct Test {
    std::uint32_t column = 0;
    std::uint32_t set = 0;   // the place of the bins that go left; 0: a number
    std::uint8_t shift = 0;  // goes left: bin - shift <= limit, as bytes
    std::uint8_t limit = 0;
    std::uint16_t first_word = 0;
    std::uint16_t num_words = 0;
    std::uint32_t first_keep = 0;  // its words in keep_: what is left of the leaves for units that go right
  };
  using Words = std::array<std::array<std::uint32_t, kBlockUnits>, kMostWords>;

  void build(const Tree& tree, std::size_t arm_column, std::size_t num_arms);
  void apply_tests(const BlockColumns& columns, Words& words) const;

  std::size_t num_words_ = 1;
  std::vector<Test> tests_;
  std::vector<std::uint32_t> keep_;
  std::vector<std::array<std::uint8_t, 256>> sets_;  // 1 for bins that go left
  std::vector<float> values_;
  std::array<std::uint32_t, kMostWords> start_{};
  // Arms with the same masks share a class.
  struct ArmClass {
    std::array<std::uint32_t, kMostWords> keep;
    std::vector<std::uint32_t> arms;
  };
  std::vector<ArmClass> classes_;
};

}  // namespace dfcl::boost
