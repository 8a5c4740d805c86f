// SPDX-License-Identifier: Apache-2.0
#include "errors.h"

#include <nanobind/nanobind.h>

#include <exception>

#include "dfcl/core/error.h"
#include "dfcl/core/printable.h"
#include "keyword_style.h"

namespace nb = nanobind;

namespace dfcl::python {
namespace {

nb::str text(const std::string& bytes) {
  PyObject* decoded = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace");
  return nb::steal<nb::str>(decoded);
}

void translate(const std::exception_ptr& exception, void*) {
  try {
    std::rethrow_exception(exception);
  } catch (const core::Error& error) {
    const core::ErrorDetails details = core::rendered(error.details(), keyword_style);
    try {
      const nb::object made =
          nb::module_::import_("dfcl.errors")
              .attr("_make")(static_cast<int>(details.kind), text(core::to_message(error.details(), keyword_style)),
                             text(details.field), text(details.what), text(details.where), text(details.found),
                             text(details.expected), text(details.hint));
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
    } catch (nb::python_error& failure) {
      failure.restore();
    }
  }
}

}  // namespace

void translate_errors() { nb::register_exception_translator(translate); }

}  // namespace dfcl::python
