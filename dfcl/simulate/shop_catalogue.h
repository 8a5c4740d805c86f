// SPDX-License-Identifier: Apache-2.0
//
// The list of a shop's features: what each is called, how it is distributed, on which traits it hangs and how often it
// is missing. Plain tables; nothing is computed here.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "dfcl/simulate/shop_features.h"

namespace dfcl::simulate {

// With x = centre + spread x score: an amount is exp(x), a count the nearest whole number to it, a share 1/(1+exp(-x)),
// a flag x > 0, a grade x within 1 to 5.
enum class NumberKind : std::uint8_t { amount, count, share, flag, grade };

struct NumberSpec {
  std::string name;
  NumberKind kind;
  double centre;
  double spread;
  // score = load_first x trait + load_second x trait + rest x noise, of variance 1.
  Trait first;
  double load_first;
  Trait second;
  double load_second;
  double missing = 0.0;             // rate
  bool missing_when_small = false;  // small shops leave it out more often
  double rest = 0.0;                // filled in by number_specs()
};

struct CategorySpec {
  std::string_view name;
  std::string_view level_stem;
  std::size_t num_levels;
  double decay;  // the share of level k falls as k^-decay
  double missing;
};

const std::array<CategorySpec, kNumCategories>& category_specs();
const std::array<NumberSpec, kNumShopNumbers>& number_specs();

}  // namespace dfcl::simulate
