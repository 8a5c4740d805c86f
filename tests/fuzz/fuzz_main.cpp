// SPDX-License-Identifier: Apache-2.0
//
// The entry of libFuzzer. DFCL_FUZZ_NAME is the target's name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const dfcl::fuzz::Target target = [] {
    for (const dfcl::fuzz::Target& known : dfcl::fuzz::targets())
      if (std::string_view(known.name) == DFCL_FUZZ_NAME) return known;
    std::abort();
  }();
  target.run({reinterpret_cast<const char*>(data), size});
  return 0;
}
