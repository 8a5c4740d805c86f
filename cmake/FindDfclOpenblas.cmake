# SPDX-License-Identifier: Apache-2.0
# OpenBLAS as the target dfcl_openblas. Debian keeps its header and library in folders of their own.
find_path(DFCL_OPENBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas-pthread openblas REQUIRED)
find_library(DFCL_OPENBLAS_LIBRARY openblas PATH_SUFFIXES openblas-pthread openblas REQUIRED)
if(NOT TARGET dfcl_openblas)
  add_library(dfcl_openblas INTERFACE IMPORTED GLOBAL)
  target_include_directories(dfcl_openblas SYSTEM INTERFACE ${DFCL_OPENBLAS_INCLUDE})
  target_link_libraries(dfcl_openblas INTERFACE ${DFCL_OPENBLAS_LIBRARY})
endif()
