# SPDX-License-Identifier: Apache-2.0
# dfcl_room(name USES room... PRIVATE_LIBRARIES lib... PUBLIC_LIBRARIES lib...): one static library of dfcl/name/*.cpp
# that links only the rooms it may use, so that a forbidden use does not link.
function(dfcl_room name)
  cmake_parse_arguments(room "" "" "USES;PRIVATE_LIBRARIES;PUBLIC_LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/dfcl/${name}/*.cpp)
  add_library(dfcl_${name} STATIC ${sources})
  add_library(dfcl::${name} ALIAS dfcl_${name})
  set_target_properties(dfcl_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(dfcl_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
  target_compile_features(dfcl_${name} PUBLIC cxx_std_20)
  list(TRANSFORM room_USES PREPEND dfcl_)
  target_link_libraries(dfcl_${name} PUBLIC ${room_USES} ${room_PUBLIC_LIBRARIES}
                                     PRIVATE ${room_PRIVATE_LIBRARIES} $<BUILD_INTERFACE:dfcl_build_flags> fmt::fmt)
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
