// SPDX-License-Identifier: Apache-2.0
//
// A number that was found with an error, drawn towards 0 by as much as it may be chance. Internal to train.
#pragma once

namespace dfcl::train {

inline double shrunk(double distance, double variance) {
  return distance * distance > variance ? distance * (1.0 - variance / (distance * distance)) : 0.0;
}

}  // namespace dfcl::train
