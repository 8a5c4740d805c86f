// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/version.h"

namespace dfcl::core {

const char* version() { return DFCL_VERSION; }

}  // namespace dfcl::core
