// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/rising.h"

#include <cstddef>
#include <vector>

namespace dfcl::learn {

void make_rising(std::span<const double> weights, std::span<double> values) {
  struct Pool {
    double value;
    double weight;
    std::size_t size;
  };
  std::vector<Pool> pools;
  std::size_t num_before = 0;  // values of no weight before the first that has one
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(weights[i] > 0.0)) {
      ++(pools.empty() ? num_before : pools.back().size);
      continue;
    }
    pools.push_back({values[i], weights[i], 1});
    while (pools.size() > 1 && pools[pools.size() - 2].value > pools.back().value) {
      const Pool last = pools.back();
      pools.pop_back();
      Pool& joined = pools.back();
      const double weight = joined.weight + last.weight;
      joined = {(joined.value * joined.weight + last.value * last.weight) / weight, weight, joined.size + last.size};
    }
  }
  if (pools.empty()) return;  // nobody has a say
  pools.front().size += num_before;
  std::size_t i = 0;
  for (const Pool& pool : pools)
    for (std::size_t member = 0; member < pool.size; ++member) values[i++] = pool.value;
}

}  // namespace dfcl::learn
