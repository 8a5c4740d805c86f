// SPDX-License-Identifier: Apache-2.0
//
// For plain loops that compilers turn into vectors: DFCL_FOR_EACH_PROCESSOR before a function (not a template) compiles
// it for several kinds of processor, and the kind at hand is chosen when the program starts. What it calls must be
// inside it, so mark helpers DFCL_INLINE. A room that wants the same numbers on every kind compiles with
// -ffp-contract=off. Costs code size, three times the function, and no time.
// The build option DFCL_PROCESSOR (avx2, portable) compiles nothing for better processors than that.
// A helper marked DFCL_INLINE is also compiled for the graphics card where a source for it includes the header.
#pragma once

// The sanitizers cannot follow the choice at start, and clang spells it differently.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#if !defined(DFCL_NO_AVX512) && !defined(DFCL_NO_AVX2)
#define DFCL_FOR_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#elif !defined(DFCL_NO_AVX2)
#define DFCL_FOR_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define DFCL_FOR_EACH_PROCESSOR
#endif
#else
#define DFCL_FOR_EACH_PROCESSOR
#endif
#if defined(__CUDACC__)
#define DFCL_INLINE __host__ __device__ __forceinline__
#else
#define DFCL_INLINE inline __attribute__((always_inline))
#endif
