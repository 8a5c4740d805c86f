# SPDX-License-Identifier: Apache-2.0
# Every third-party library, found and never fetched: tools/setup.sh installs them.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
include(${CMAKE_CURRENT_LIST_DIR}/FindDfclHeaders.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/FindDfclArrow.cmake)
