// SPDX-License-Identifier: Apache-2.0
//
// The arms of a trial, a model or a prediction: what each is called, and which of them is control.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dfcl::data {

// An arm is one byte per unit, and 255 stays free for "none".
inline constexpr std::size_t kMostArms = 255;

struct Arms {
  std::vector<std::string> labels;  // in the study's order, else control first and the rest as numbers or letters sort
  std::size_t control = 0;
  bool ordered = false;

  std::size_t size() const { return labels.size(); }
  bool operator==(const Arms&) const = default;
};

// The arm whose label says that it is control: "0", else "control" or "none"; nothing where no label does.
std::optional<std::size_t> find_control(const std::vector<std::string>& labels);

}  // namespace dfcl::data
