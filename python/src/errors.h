// SPDX-License-Identifier: Apache-2.0
//
// core::Error as the Python exceptions of dfcl/errors.py.
#pragma once

namespace dfcl::python {

void translate_errors();

}  // namespace dfcl::python
