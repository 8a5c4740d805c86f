// SPDX-License-Identifier: Apache-2.0
//
// How an output was made: kept inside every file we write. Only what changes the result goes in (never threads,
// paths, times or hosts), so that equal results are equal bytes.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace dfcl::data {

struct Provenance {
  std::string kind;                                          // trial, truth, prediction, plan, ...
  std::string version;                                       // of dfcl
  std::string verb;                                          // the verb that wrote it
  std::vector<std::pair<std::string, std::string>> options;  // in the order they are to be shown
};

}  // namespace dfcl::data
