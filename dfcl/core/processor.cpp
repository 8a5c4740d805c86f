// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/processor.h"

#include <algorithm>
#include <cstdlib>

#include "dfcl/core/error.h"

namespace dfcl::core {
namespace {

Processor found() {
#ifdef DFCL_X86_LEVEL
  const bool has_avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (has_avx512) return Processor::avx512;
  if (has_avx2) return Processor::avx2;
#endif
  return Processor::portable;
}

// What the build compiles for.
#if defined(DFCL_NO_AVX2)
constexpr Processor kBest = Processor::portable;
#elif defined(DFCL_NO_AVX512)
constexpr Processor kBest = Processor::avx2;
#else
constexpr Processor kBest = Processor::avx512;
#endif

Processor chosen() {
  const Processor best = std::min(found(), kBest);
  const char* const asked = std::getenv("DFCL_PROCESSOR");
  if (asked == nullptr || *asked == '\0') return best;
  for (const Processor kind : {Processor::portable, Processor::avx2, Processor::avx512}) {
    if (processor_name(kind) == asked) return std::min(kind, best);
  }
  throw Error({.kind = ErrorKind::usage,
               .what = "the environment variable DFCL_PROCESSOR names no kind of processor",
               .found = asked,
               .expected = "avx512, avx2 or portable"});
}

}  // namespace

Processor processor() {
  static const Processor kind = chosen();
  return kind;
}

std::string_view processor_name(Processor kind) {
  switch (kind) {
    case Processor::avx512: return "avx512";
    case Processor::avx2: return "avx2";
    case Processor::portable: break;
  }
  return "portable";
}

}  // namespace dfcl::core
