// SPDX-License-Identifier: Apache-2.0
//
// What the fuzzers feed: one function for each parser of hostile bytes. Errors of ours (core::Error) are what a parser
// answers to nonsense and are caught here; anything else is a finding. The same functions replay the corpora in the
// tests, so that no build of its own is needed for that.
#pragma once

#include <span>
#include <string_view>

namespace dfcl::fuzz {

struct Target {
  const char* name;  // of its corpus: tests/fuzz/corpus/<name>
  void (*run)(std::string_view bytes);
};

// Study, CSV, Parquet and Arrow tables, predictions and plans, model files as bytes, the cache's header.
std::span<const Target> targets();

}  // namespace dfcl::fuzz
