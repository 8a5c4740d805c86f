# SPDX-License-Identifier: Apache-2.0
# Header-only libraries without a CMake package of their own in Debian 12.
find_path(DFCL_RANDOM123_INCLUDE Random123/philox.h REQUIRED)
find_path(DFCL_BOOST_MATH_INCLUDE boost/math/distributions/chi_squared.hpp REQUIRED)
foreach(library random123 boost_math)
  if(NOT TARGET dfcl_${library})
    string(TOUPPER ${library} name)
    add_library(dfcl_${library} INTERFACE IMPORTED GLOBAL)
    target_include_directories(dfcl_${library} SYSTEM INTERFACE ${DFCL_${name}_INCLUDE})
  endif()
endforeach()
