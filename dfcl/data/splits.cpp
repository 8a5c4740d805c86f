// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/splits.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/hash.h"

namespace dfcl::data {

std::uint64_t split_seed(const Study::Split& split) {
  return core::combine_hashes(core::hash_text("split"), static_cast<std::uint64_t>(split.seed));
}

Split split_of_hash(std::uint64_t hash, const Study::Split& split) {
  const double total = split.train + split.validation + split.test;
  const double position = core::hash_fraction(hash) * total;
  if (position < split.train) return Split::train;
  return position < split.train + split.validation ? Split::validation : Split::test;
}

std::vector<Split> splits_of_times(std::size_t num_times, const Study::Split& split) {
  const double total = split.train + split.validation + split.test;
  const auto count_until = [&](double share) {
    return static_cast<std::size_t>(std::llround(share / total * static_cast<double>(num_times)));
  };
  const std::size_t most = num_times == 0 ? 0 : num_times - (split.test > 0 && num_times > 1 ? 1 : 0);
  const std::size_t train_end = std::min(std::max<std::size_t>(1, count_until(split.train)), most);
  const std::size_t validation_end =
      std::clamp(count_until(split.train + split.validation), train_end, std::max(train_end, most));
  std::vector<Split> splits(num_times, Split::test);
  for (std::size_t time = 0; time < num_times; ++time) {
    if (time < train_end) {
      splits[time] = Split::train;
    } else if (time < validation_end) {
      splits[time] = Split::validation;
    }
  }
  return splits;
}

Study::Split without_test(Study::Split split) {
  const double rest = split.train + split.validation;
  if (!(split.test > 0.0 && rest > 0.0)) return split;
  split.train /= rest;
  split.validation = 1.0 - split.train;
  split.test = 0.0;
  return split;
}

std::string_view to_text(Split split) {
  switch (split) {
    case Split::train: return "train";
    case Split::validation: return "validation";
    case Split::test: return "test";
  }
  return "test";
}

}  // namespace dfcl::data
