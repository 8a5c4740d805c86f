// SPDX-License-Identifier: Apache-2.0
//
// The nearest rising sequence by weighted squares: neighbours that fall are pooled until none does. Linear in the
// number of values.
#pragma once

#include <span>

namespace dfcl::learn {

// weights: of each value, none negative. A value of weight 0 has no say: it takes the value before it, or, where no
// value of weight comes before it, the first one that has any.
void make_rising(std::span<const double> weights, std::span<double> values);

}  // namespace dfcl::learn
