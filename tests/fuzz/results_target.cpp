// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "dfcl/report/results/results_report.h"
#include "tests/fuzz/targets.h"

namespace dfcl::fuzz {

// One of the forms, by the length: each is made of the same checked JSON.
void fuzz_results(std::string_view bytes) {
  using report::ResultsFormat;
  constexpr std::array<ResultsFormat, 4> kFormats = {ResultsFormat::text, ResultsFormat::markdown, ResultsFormat::csv,
                                                     ResultsFormat::html};
  const report::Length length = bytes.size() % 8 < 4 ? report::Length::full : report::Length::brief;
  expect_refusal_or_success(
      [&] { (void)report::render_results(bytes, "results", kFormats[bytes.size() % 4], length); });
}

}  // namespace dfcl::fuzz
