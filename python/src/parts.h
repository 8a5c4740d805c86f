// SPDX-License-Identifier: Apache-2.0
//
// Plans for units that are elsewhere, for dfcl.spark: what executors answer, and the driver that asks.
#pragma once

#include <nanobind/nanobind.h>

namespace dfcl::python {

void bind_parts(nanobind::module_& module);

}  // namespace dfcl::python
