// SPDX-License-Identifier: Apache-2.0
//
// Which graphics card there is. No CUDA in this header: a build without CUDA says that it has none.
#pragma once

#include <string>

namespace dfcl::nn::cuda {

struct CardAnswer {
  std::string name;    // empty where no card can be used
  std::string reason;  // then: why, in one line
};

// The first card. Asks the driver every time: some milliseconds at first.
CardAnswer find_card();

// Whether this build has support for cards.
bool has_support();

// Throws Error of kind unavailable where no card can be used.
void require_card();

inline std::string card_name() { return find_card().name; }

}  // namespace dfcl::nn::cuda
