# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` copies: headers, one static library a room, and the package that find_package(dfcl) finds.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/dfcl)
get_property(rooms GLOBAL PROPERTY DFCL_ROOMS)
list(TRANSFORM rooms PREPEND dfcl_)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/dfcl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS ${rooms} dfcl_dfcl EXPORT dfclTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT dfclTargets NAMESPACE dfcl:: DESTINATION ${package_folder})

# CMake leaves folders inside the checkout, as .venv is, out of the run path by itself.
if(DFCL_PYARROW)
  set_target_properties(dfcl_program PROPERTIES INSTALL_RPATH ${DFCL_PYARROW})
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/dfclConfig.cmake.in ${PROJECT_BINARY_DIR}/dfclConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/dfclConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/dfclConfig.cmake ${PROJECT_BINARY_DIR}/dfclConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindDfclArrow.cmake ${CMAKE_CURRENT_LIST_DIR}/FindDfclHeaders.cmake
        DESTINATION ${package_folder})
