// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/arms.h"

#include <algorithm>

namespace dfcl::data {

std::optional<std::size_t> find_control(const std::vector<std::string>& labels) {
  for (const char* candidate : {"0", "control", "Control", "none", "None"}) {
    const auto found = std::find(labels.begin(), labels.end(), candidate);
    if (found != labels.end()) return static_cast<std::size_t>(found - labels.begin());
  }
  return std::nullopt;
}

}  // namespace dfcl::data
