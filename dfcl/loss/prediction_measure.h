// SPDX-License-Identifier: Apache-2.0
//
// The prediction losses of one number (prediction_loss.h has the mathematics), for processors and graphics cards.
#pragma once

#include <algorithm>
#include <cmath>

#include "dfcl/core/for_each_processor.h"

namespace dfcl::loss {

inline constexpr double kLeastPrediction = 1e-7;  // and, for probabilities, the distance kept from 1

template <class T>
struct Point {
  T value;
  T slope;  // d value / d predicted
};

template <class T>
struct SquaredError {
  DFCL_INLINE static Point<T> at(T observed, T predicted) {
    const T error = predicted - observed;
    return {error * error, T(2) * error};
  }
};

template <class T>
struct PoissonDeviance {
  DFCL_INLINE static Point<T> at(T observed, T predicted) {
    const T safe = std::max(predicted, T(kLeastPrediction));
    // Most rows of a sparse outcome are zero: no logarithm for them.
    const T value = observed == T(0) ? safe : safe - observed * std::log(safe);
    return {value, T(1) - observed / safe};
  }
};

template <class T>
struct CrossEntropy {
  DFCL_INLINE static Point<T> at(T observed, T predicted) {
    const T safe = std::clamp(predicted, T(kLeastPrediction), T(1) - T(kLeastPrediction));
    T value = 0;
    if (observed != T(0)) value -= observed * std::log(safe);
    if (observed != T(1)) value -= (T(1) - observed) * std::log(T(1) - safe);
    return {value, (safe - observed) / (safe * (T(1) - safe))};
  }
};

}  // namespace dfcl::loss
