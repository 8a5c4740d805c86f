// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "dfcl/serve/settings.h"
#include "tests/fuzz/targets.h"

namespace dfcl::fuzz {

void fuzz_request(std::string_view bytes) {
  const std::string text(bytes.substr(0, serve::kMostRequestBytes + 1));
  expect_refusal_or_success([&] { (void)serve::read_request(text, {5, 3, true}); });
}

}  // namespace dfcl::fuzz
