// SPDX-License-Identifier: Apache-2.0
//
// The version of the library, as every output names it.
#pragma once

namespace dfcl::core {

const char* version();

}  // namespace dfcl::core
