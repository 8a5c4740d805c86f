// SPDX-License-Identifier: Apache-2.0
//
// The verbs for Python: a class for each request, a function for each verb. Figures leave as the JSON of the command
// line.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "dfcl/report/text/screen.h"

namespace dfcl::python {

void bind_verbs(nanobind::module_& module);

// Text that came from files and may not be UTF-8.
nanobind::str text(const std::string& bytes);

// What a result is built from: its JSON, its screen in brief and in full.
using Screens = nanobind::typed<nanobind::tuple, nanobind::str, nanobind::str, nanobind::str>;

template <class Text>
Screens screens(const std::string& json, const Text& text_of) {
  return nanobind::make_tuple(text(json), text(text_of(report::Length::brief)), text(text_of(report::Length::full)));
}

}  // namespace dfcl::python
