// SPDX-License-Identifier: Apache-2.0
//
// Some units of a problem, copied out in the order of their keys, as a problem of their own: a sample, or the units
// that a pass could not settle. The order of the rows does not show in it. Memory: the rows that were chosen.
#pragma once

#include <cstdint>
#include <vector>

#include "dfcl/allocate/allocate.h"

namespace dfcl::allocate {

class ChosenUnits {
 public:
  // units: indices into the whole problem, in any order.
  ChosenUnits(const Problem& whole, std::vector<std::uint32_t> units, core::RunContext& context);

  // Rules and limits are those of the whole. Valid as long as this object.
  const Problem& problem() const { return problem_; }
  std::size_t size() const { return units_.size(); }
  // Index in the whole problem.
  std::uint32_t unit(std::size_t place) const { return units_[place]; }

 private:
  std::vector<std::uint32_t> units_;
  core::Matrix<float> revenue_;
  core::Matrix<float> cost_;
  core::Matrix<std::uint8_t> eligible_;
  core::Matrix<float> second_;
  std::vector<std::uint32_t> segment_;
  Problem problem_;
};

std::vector<std::uint32_t> every_unit(const Problem& problem);

// About `size` units, chosen by a hash of their keys; all of them where they are few or where keys are no hashes.
std::vector<std::uint32_t> sample_units(const Problem& problem, std::size_t size, core::RunContext& context);

}  // namespace dfcl::allocate
