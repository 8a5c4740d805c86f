// SPDX-License-Identifier: Apache-2.0
//
// Uses an installed dfcl as a stranger would: splits units by their ids and catches an error. Exits 0 if the answers
// are right.
#include <cmath>
#include <cstdio>
#include <string>

#include "dfcl/core/distributions.h"
#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/splits.h"

int main() {
  const dfcl::data::Study::Split split;  // 60 % train
  const int num_units = 10000;
  int num_train = 0;
  for (int unit = 0; unit < num_units; ++unit) {
    const auto hash = dfcl::core::hash_text("unit-" + std::to_string(unit), dfcl::data::split_seed(split));
    if (dfcl::data::split_of_hash(hash, split) == dfcl::data::Split::train) ++num_train;
  }
  std::printf("%d of %d units train\n", num_train, num_units);
  // Five standard errors of a share of 0.6.
  if (std::abs(num_train - 6000) > 5 * std::sqrt(num_units * 0.6 * 0.4)) return 1;

  if (std::abs(dfcl::core::normal_quantile(0.975) - 1.959964) > 1e-6) return 1;

  const std::atomic<bool> cancelled = true;
  const dfcl::core::RunContext context(2, 0, nullptr, &cancelled);
  try {
    context.check_cancelled();
  } catch (const dfcl::core::Error& error) {
    return error.kind() == dfcl::core::ErrorKind::interrupted ? 0 : 1;
  }
  return 1;
}
