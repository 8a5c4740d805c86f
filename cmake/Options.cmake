# SPDX-License-Identifier: Apache-2.0
option(DFCL_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
set(DFCL_BUILD_BENCHMARKS ${PROJECT_IS_TOP_LEVEL} CACHE STRING "Build the benchmarks: ON, OFF, or ONLY (those of learning and allocating; needs no Arrow)")
set(DFCL_CUDA OFF CACHE STRING "Engine for graphics cards: OFF, ON, or ONLY (nothing but it; needs no Arrow)")
set(DFCL_HEADERS "" CACHE PATH "With DFCL_CUDA=ONLY or DFCL_BUILD_BENCHMARKS=ONLY: where the headers of fmt and Random123 (and nlohmann's) are, if not where the compiler looks")
set(DFCL_PROCESSOR avx512 CACHE STRING "The best kind of processor that loops are compiled for: avx512, avx2 or portable")
option(DFCL_MERGE_SOURCES "Compile source files eight at a time: a third of the time for a whole build, more for one changed file" ON)
set(DFCL_SANITIZE "" CACHE STRING "Sanitizers for our own code, for example address,undefined or thread")

if(DFCL_PROCESSOR STREQUAL "portable")
  add_compile_definitions(DFCL_NO_AVX2)
elseif(DFCL_PROCESSOR STREQUAL "avx2")
  add_compile_definitions(DFCL_NO_AVX512)
elseif(NOT DFCL_PROCESSOR STREQUAL "avx512")
  message(FATAL_ERROR "DFCL_PROCESSOR is ${DFCL_PROCESSOR}: expected avx512, avx2 or portable")
endif()
option(DFCL_FUZZ "Build the fuzzers instead of the replay of their corpora (clang only)" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)  # the installed program finds the libraries it was linked with
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Warnings are errors in our builds, never in a consumer's: this target is not part of the exported interface.
add_library(dfcl_build_flags INTERFACE)
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(dfcl_build_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror)
  # GCC 12 sees overlapping and overlong copies in plain std::string code (its bugs 105329 and 105651), the more so behind
  # precompiled headers; the sanitizers look for real ones.
  target_compile_options(dfcl_build_flags INTERFACE
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds>)
endif()
if(DFCL_SANITIZE)
  # With sanitizers GCC sees variables that may not be set where all are: its manual says so.
  target_compile_options(dfcl_build_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_compile_options(dfcl_build_flags INTERFACE -fsanitize=${DFCL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(dfcl_build_flags INTERFACE -fsanitize=${DFCL_SANITIZE})
endif()
