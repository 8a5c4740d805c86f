// SPDX-License-Identifier: Apache-2.0
//
// The slopes of a hard decision by finite differences with a window (eq. 9), for a block of rows: shared by IFD, which
// measures steps on scores, and IFD-softmax, which measures them on probabilities. A few operations for each row and
// arm.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "dfcl/core/for_each_processor.h"

namespace dfcl::loss {

// Winner and runner-up of each row. Of equal scores the first arm wins.
template <std::size_t kRows>
struct TopPair {
  std::array<std::int32_t, kRows> winner;
  std::array<std::int32_t, kRows> runner_up;
};

template <std::size_t kRows, class T, class Arms>
DFCL_INLINE void set_top_pair(const T* score, Arms num_arms, TopPair<kRows>& pair) {
  std::array<T, kRows> best;
  std::array<T, kRows> second;
  for (std::size_t row = 0; row < kRows; ++row) {
    best[row] = -std::numeric_limits<T>::infinity();
    second[row] = -std::numeric_limits<T>::infinity();
    pair.winner[row] = 0;
    pair.runner_up[row] = 0;
  }
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    const T* const line = score + arm * kRows;
    const std::int32_t index = static_cast<std::int32_t>(arm);
    for (std::size_t row = 0; row < kRows; ++row) {
      const T a = line[row];
      const bool wins = a > best[row];
      const bool follows = a > second[row];
      pair.runner_up[row] = wins ? pair.winner[row] : follows ? index : pair.runner_up[row];
      second[row] = wins ? best[row] : follows ? a : second[row];
      pair.winner[row] = wins ? index : pair.winner[row];
      best[row] = wins ? a : best[row];
    }
  }
}

// to[row] = from[index[row]][row]
template <std::size_t kRows, class T, class Arms>
DFCL_INLINE void pick(const T* from, Arms num_arms, const std::int32_t* index, T* to) {
  for (std::size_t row = 0; row < kRows; ++row) to[row] = from[row];
  for (std::size_t arm = 1; arm < num_arms; ++arm) {
    const T* const line = from + arm * kRows;
    const std::int32_t here = static_cast<std::int32_t>(arm);
    for (std::size_t row = 0; row < kRows; ++row) to[row] = index[row] == here ? line[row] : to[row];
  }
}

template <class T>
struct Window {
  T width;    // h
  T inverse;  // 1 / h

  explicit Window(double h) : width(static_cast<T>(h)), inverse(static_cast<T>(1.0 / h)) {}
  // 1 / step of the public code: a step shorter than h counts as h, a longer one has no gradient.
  DFCL_INLINE T slope(T step) const { return step < width ? inverse : T(0); }
};

// Working form of eq. 9: +-(phi_k - phi_s) / h on winner k and runner-up s where their distance is below h. `place` is
// what steps are measured on (arms x rows, in the order of the scores); value[row] = phi_k, the worth of the decision.
template <std::size_t kRows, class T, class Arms>
DFCL_INLINE void set_window_slopes(const TopPair<kRows>& pair, const T* place, const T* reward, Arms num_arms,
                                   const Window<T>& window, T* slope, T* value) {
  std::array<T, kRows> step;
  std::array<T, kRows> low;
  std::array<T, kRows> gain;
  pick<kRows>(place, num_arms, pair.winner.data(), step.data());
  pick<kRows>(place, num_arms, pair.runner_up.data(), low.data());
  pick<kRows>(reward, num_arms, pair.winner.data(), value);
  pick<kRows>(reward, num_arms, pair.runner_up.data(), gain.data());
  for (std::size_t row = 0; row < kRows; ++row) {
    const bool paired = pair.winner[row] != pair.runner_up[row];  // else there is one arm
    gain[row] = paired ? (value[row] - gain[row]) * window.slope(step[row] - low[row]) : T(0);
  }
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    T* const out = slope + arm * kRows;
    const std::int32_t here = static_cast<std::int32_t>(arm);
    for (std::size_t row = 0; row < kRows; ++row) {
      const T fall = pair.runner_up[row] == here ? -gain[row] : T(0);
      out[row] = pair.winner[row] == here ? gain[row] : fall;
    }
  }
}

// As published: g = w (y - b), t the arm received. Where t wins, g on t by the step to the runner-up and -g on every
// other arm by its own step to t; where k wins, g on t and -g on k, both by the step between them. That last term is
// wrong for more than two arms unless t is the runner-up: lowering a_k makes the runner-up win.
template <std::size_t kRows, class T, class Arms>
DFCL_INLINE void set_published_slopes(const TopPair<kRows>& pair, const std::int32_t* received, const T* place,
                                      const T* reward, Arms num_arms, const Window<T>& window, T* slope, T* value) {
  std::array<T, kRows> top;
  std::array<T, kRows> low;
  std::array<T, kRows> own;
  std::array<T, kRows> gain;
  pick<kRows>(place, num_arms, pair.winner.data(), top.data());
  pick<kRows>(place, num_arms, pair.runner_up.data(), low.data());
  pick<kRows>(place, num_arms, received, own.data());
  pick<kRows>(reward, num_arms, received, gain.data());
  pick<kRows>(reward, num_arms, pair.winner.data(), value);
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    const T* const here = place + arm * kRows;
    T* const out = slope + arm * kRows;
    const std::int32_t index = static_cast<std::int32_t>(arm);
    for (std::size_t row = 0; row < kRows; ++row) {
      const bool is_received = received[row] == index;
      const bool received_wins = received[row] == pair.winner[row];
      const T when_received_wins =
          is_received ? window.slope(top[row] - low[row]) : -window.slope(top[row] - here[row]);
      const T between = window.slope(top[row] - own[row]);
      const T of_winner = pair.winner[row] == index ? -between : T(0);
      const T when_other_wins = is_received ? between : of_winner;
      out[row] = gain[row] * (received_wins ? when_received_wins : when_other_wins);
    }
  }
}

}  // namespace dfcl::loss
