// SPDX-License-Identifier: Apache-2.0
//
// Which keys a results file may have, and of which type: the list that docs/report.md describes and the page reads.
// Internal to report.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dfcl::report {

enum class ShapeKind { number, text, number_or_text, flag, list, object };

struct Shape {
  ShapeKind kind = ShapeKind::object;
  std::vector<std::pair<std::string, std::shared_ptr<const Shape>>> keys = {};  // of an object
  std::shared_ptr<const Shape> element = {};                                    // of a list
};

const Shape& results_shape();

}  // namespace dfcl::report
