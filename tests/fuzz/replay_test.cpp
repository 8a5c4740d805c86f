// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/replay.h"

namespace dfcl::fuzz {

TEST(Corpora, OfFilesAreRefusedOrRead) {
  for (const Target& target : {Target{"study", fuzz_study}, Target{"setting", fuzz_setting}, Target{"rows", fuzz_rows},
                               Target{"csv", fuzz_table}, Target{"parquet", fuzz_table}, Target{"arrow", fuzz_table},
                               Target{"prediction", fuzz_prediction}, Target{"safetensors", fuzz_safetensors},
                               Target{"json", fuzz_json}, Target{"cache", fuzz_cache}, Target{"request", fuzz_request}})
    replay(target);
}

}  // namespace dfcl::fuzz
