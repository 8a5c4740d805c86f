# SPDX-License-Identifier: Apache-2.0
# The pages of dfcl report and dfcl serve: node bundles web/ into one HTML text each, which becomes a source file of its room.
find_program(DFCL_NODE node)
if(NOT DFCL_NODE)
  message(FATAL_ERROR "node is missing; it bundles the page of dfcl report. Run tools/setup.sh, or install Node.js 18 or later.")
endif()
if(NOT EXISTS ${PROJECT_SOURCE_DIR}/web/node_modules/esbuild OR NOT EXISTS ${PROJECT_SOURCE_DIR}/web/node_modules/@observablehq/plot)
  message(FATAL_ERROR "The packages of the page are missing. Run tools/setup.sh, or: npm ci --ignore-scripts --prefix web")
endif()

file(GLOB_RECURSE page_parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
function(dfcl_page form room)
  set(page_source ${PROJECT_BINARY_DIR}/web/${form}_template.cpp)
  add_custom_command(
    OUTPUT ${page_source}
    COMMAND ${DFCL_NODE} ${PROJECT_SOURCE_DIR}/web/build.mjs --${form}-cpp ${page_source}
    DEPENDS ${page_parts} ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_SOURCE_DIR}/web/package-lock.json
    COMMENT "Bundling the page of dfcl ${room}"
    VERBATIM)
  target_sources(dfcl_${room} PRIVATE ${page_source})
endfunction()
dfcl_page(page report)
dfcl_page(planner serve)
