# SPDX-License-Identifier: Apache-2.0
# The page of dfcl report: node bundles web/ into one HTML text, which becomes a source file of the report room.
find_program(DFCL_NODE node)
if(NOT DFCL_NODE)
  message(FATAL_ERROR "node is missing; it bundles the page of dfcl report. Run tools/setup.sh, or install Node.js 18 or later.")
endif()
if(NOT EXISTS ${PROJECT_SOURCE_DIR}/web/node_modules/esbuild OR NOT EXISTS ${PROJECT_SOURCE_DIR}/web/node_modules/@observablehq/plot)
  message(FATAL_ERROR "The packages of the page are missing. Run tools/setup.sh, or: npm ci --ignore-scripts --prefix web")
endif()

set(page_source ${PROJECT_BINARY_DIR}/web/page_template.cpp)
file(GLOB_RECURSE page_parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
add_custom_command(
  OUTPUT ${page_source}
  COMMAND ${DFCL_NODE} ${PROJECT_SOURCE_DIR}/web/build.mjs --cpp ${page_source}
  DEPENDS ${page_parts} ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_SOURCE_DIR}/web/package-lock.json
  COMMENT "Bundling the page of dfcl report"
  VERBATIM)
target_sources(dfcl_report PRIVATE ${page_source})
