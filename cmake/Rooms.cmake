# SPDX-License-Identifier: Apache-2.0
# dfcl_precompile(target LIBRARIES library... FLAGS flag...): the standard headers and those of the libraries, compiled
# once for all targets of the same kind, libraries and flags; they are most of what a source file of ours costs to
# compile. FLAGS: what the target is compiled with beyond the flags of all.
function(dfcl_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 of "" "" "LIBRARIES;FLAGS")
  set(headers <algorithm> <cmath> <cstdint> <functional> <map> <memory> <optional> <span> <string> <string_view> <variant>
              <vector> <fmt/format.h>)
  if("nlohmann_json::nlohmann_json" IN_LIST of_LIBRARIES)
    list(APPEND headers <nlohmann/json.hpp>)
  endif()
  if("dfcl_arrow" IN_LIST of_LIBRARIES)
    list(APPEND headers <arrow/api.h>)
  endif()
  if("tomlplusplus::tomlplusplus" IN_LIST of_LIBRARIES)
    list(APPEND headers <toml++/toml.h>)
  endif()
  if("CLI11::CLI11" IN_LIST of_LIBRARIES)
    list(APPEND headers <CLI/CLI.hpp>)
  endif()
  if("GTest::gtest_main" IN_LIST of_LIBRARIES)
    list(APPEND headers <gtest/gtest.h>)
  endif()
  get_target_property(type ${target} TYPE)  # programs and libraries differ in how they are placed in memory
  string(SHA1 key "${type};${headers};${of_FLAGS}")
  get_property(first GLOBAL PROPERTY DFCL_PRECOMPILED_${key})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${headers})
    set_property(GLOBAL PROPERTY DFCL_PRECOMPILED_${key} ${target})
  endif()
  target_compile_options(${target} PRIVATE ${of_FLAGS})
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # so that ccache can look inside
endfunction()

# dfcl_merge(target): compiles eight source files of a target at a time, so that their headers and the templates they
# share are compiled once (docs/decisions/0113). Names in unnamed namespaces must differ within such a target.
function(dfcl_merge target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${DFCL_MERGE_SOURCES} UNITY_BUILD_BATCH_SIZE 8)
  if(DFCL_MERGE_SOURCES)  # GCC takes a type of an unnamed namespace for one that other files could see
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# dfcl_room(name APART USES room... PRIVATE_LIBRARIES lib... PUBLIC_LIBRARIES lib... FLAGS flag...): one static library of
# all dfcl/name/**.cpp that links only the rooms it may use, so that a forbidden use does not link. APART: each source file
# is compiled alone.
function(dfcl_room name)
  cmake_parse_arguments(room "APART" "" "USES;PRIVATE_LIBRARIES;PUBLIC_LIBRARIES;FLAGS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/dfcl/${name}/*.cpp)
  add_library(dfcl_${name} STATIC ${sources})
  add_library(dfcl::${name} ALIAS dfcl_${name})
  set_target_properties(dfcl_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(dfcl_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
  target_compile_features(dfcl_${name} PUBLIC cxx_std_20)
  list(TRANSFORM room_USES PREPEND dfcl_)
  target_link_libraries(dfcl_${name} PUBLIC ${room_USES} ${room_PUBLIC_LIBRARIES}
                                     PRIVATE ${room_PRIVATE_LIBRARIES} $<BUILD_INTERFACE:dfcl_build_flags> fmt::fmt)
  dfcl_precompile(dfcl_${name} LIBRARIES ${room_PRIVATE_LIBRARIES} FLAGS ${room_FLAGS})
  if(NOT room_APART)
    dfcl_merge(dfcl_${name})
  endif()
  set_property(GLOBAL APPEND PROPERTY DFCL_ROOMS ${name})
endfunction()

# The whole library as one target, dfcl::dfcl.
function(dfcl_library)
  get_property(rooms GLOBAL PROPERTY DFCL_ROOMS)
  list(TRANSFORM rooms PREPEND dfcl_)
  add_library(dfcl_dfcl INTERFACE)
  add_library(dfcl::dfcl ALIAS dfcl_dfcl)
  set_target_properties(dfcl_dfcl PROPERTIES EXPORT_NAME dfcl)
  target_link_libraries(dfcl_dfcl INTERFACE ${rooms})
endfunction()
