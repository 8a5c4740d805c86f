# SPDX-License-Identifier: Apache-2.0
# Apache Arrow C++ with Parquet, as the target dfcl_arrow: an installed Arrow if there is one, else the libraries and
# headers inside the pinned pyarrow wheel (tools/requirements.txt), which tools/setup.sh puts into .venv. Used by our
# build and, installed beside dfclConfig.cmake, by the builds of others.
if(NOT TARGET dfcl_arrow)
  add_library(dfcl_arrow INTERFACE IMPORTED GLOBAL)
  find_package(Arrow QUIET)
  find_package(Parquet QUIET)
  if(Arrow_FOUND AND Parquet_FOUND)
    target_link_libraries(dfcl_arrow INTERFACE Arrow::arrow_shared Parquet::parquet_shared)
  else()
    if(NOT EXISTS "${DFCL_PYARROW}/include/arrow/api.h")  # never set, or the environment was made anew
      file(GLOB wheels ${CMAKE_CURRENT_LIST_DIR}/../.venv/lib/python3*/site-packages/pyarrow)
      set(wheel "${DFCL_PYARROW_DEFAULT}")
      if(wheels)
        list(GET wheels 0 wheel)
      endif()
      set(DFCL_PYARROW "${wheel}" CACHE PATH "Folder of an installed pyarrow wheel" FORCE)
    endif()
    file(GLOB arrow ${DFCL_PYARROW}/libarrow.so.*)
    file(GLOB parquet ${DFCL_PYARROW}/libparquet.so.*)
    if(NOT arrow OR NOT parquet)
      message(FATAL_ERROR "Apache Arrow not found: run `make setup`, or set Arrow_DIR or DFCL_PYARROW")
    endif()
    target_include_directories(dfcl_arrow SYSTEM INTERFACE ${DFCL_PYARROW}/include)
    target_link_libraries(dfcl_arrow INTERFACE ${parquet} ${arrow})
  endif()
endif()
