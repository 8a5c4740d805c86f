// SPDX-License-Identifier: Apache-2.0
//
// The entry of libFuzzer. DFCL_FUZZ_RUN is the target's function.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dfcl::fuzz::DFCL_FUZZ_RUN({reinterpret_cast<const char*>(data), size});
  return 0;
}
