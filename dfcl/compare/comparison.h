// SPDX-License-Identifier: Apache-2.0
//
// What a comparison of methods found beside the evaluation of its models: plain data, for reports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dfcl/compare/comparison_entries.h"
#include "dfcl/compare/over_seeds.h"

namespace dfcl::compare {

struct TrainingFailure {
  std::size_t entry = 0;
  std::uint64_t seed = 0;
  std::string message;
};

struct TrainingTime {
  std::size_t entry = 0;
  std::uint64_t seed = 0;
  double seconds = 0.0;
  bool resumed = false;  // it was stopped before: the seconds are those of the last part
};

struct Comparison {
  std::vector<ComparisonEntry> entries;  // the first is the reference
  std::vector<std::uint64_t> seeds;      // of training; the first is that of the main evaluation
  std::vector<TrainingFailure> failures;
  std::vector<SeedEntry> over_seeds;  // as entries
};

}  // namespace dfcl::compare
