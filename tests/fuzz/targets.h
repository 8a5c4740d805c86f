// SPDX-License-Identifier: Apache-2.0
//
// What the fuzzers feed: one function for each parser of hostile bytes. Errors of ours (core::Error) are what a parser
// answers to nonsense and are caught here; anything else is a finding. The same functions replay the corpora in the
// tests, so that no build of its own is needed for that.
#pragma once

#include <string_view>

#include "dfcl/core/error.h"

namespace dfcl::fuzz {

// A corpus (tests/fuzz/corpus/<name>) and who reads it.
struct Target {
  const char* name;
  void (*run)(std::string_view bytes);
};

void fuzz_study(std::string_view bytes);
void fuzz_setting(std::string_view bytes);
void fuzz_rows(std::string_view bytes);   // where the rows of a block of CSV end
void fuzz_table(std::string_view bytes);  // CSV, Parquet, Arrow: the first bytes decide
void fuzz_prediction(std::string_view bytes);
void fuzz_safetensors(std::string_view bytes);
void fuzz_json(std::string_view bytes);
void fuzz_cache(std::string_view bytes);    // its header; the columns are empty files
void fuzz_request(std::string_view bytes);  // what the served page asks for
void fuzz_model(std::string_view bytes);    // the parts of all learners, whatever the checksum says
void fuzz_results(std::string_view bytes);  // and every form that a report makes of them

template <class Parse>
void expect_refusal_or_success(Parse&& parse) {
  try {
    parse();
  } catch (const core::Error& error) {
    // Exit code 1 is a bug of ours, by our own words.
    if (error.kind() == core::ErrorKind::internal) throw;
  }
}

}  // namespace dfcl::fuzz
