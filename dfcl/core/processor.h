// SPDX-License-Identifier: Apache-2.0
//
// Which kind of processor this is, for kernels whose blocks depend on the registers: each kind has a function of its
// own, marked DFCL_X86_LEVEL, and the kind at hand is chosen once. Loops without such blocks use for_each_processor.h.
// The environment variable DFCL_PROCESSOR (avx512, avx2, portable) chooses a lesser kind than there is, and the build
// option of that name compiles nothing for a better one.
#pragma once

#include <string_view>

#include "dfcl/core/for_each_processor.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define DFCL_X86_LEVEL(level) __attribute__((target("arch=x86-64-v" #level)))
#endif

namespace dfcl::core {

enum class Processor { portable, avx2, avx512 };  // each has what those before it have

// The kind whose kernels run; looked up once.
Processor processor();

// As in DFCL_PROCESSOR.
std::string_view processor_name(Processor kind);

}  // namespace dfcl::core
