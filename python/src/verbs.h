// SPDX-License-Identifier: Apache-2.0
//
// The verbs for Python: a class for each request, a function for each verb. Figures leave as the JSON of the command
// line.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace dfcl::python {

void bind_verbs(nanobind::module_& module);

// Text that came from files and may not be UTF-8.
nanobind::str text(const std::string& bytes);

}  // namespace dfcl::python
