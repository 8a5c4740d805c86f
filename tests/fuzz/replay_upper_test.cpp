// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/replay.h"

namespace dfcl::fuzz {

TEST(Corpora, OfModelsAndResultsAreRefusedOrRead) {
  replay({"model", fuzz_model});
  replay({"results", fuzz_results});
}

}  // namespace dfcl::fuzz
