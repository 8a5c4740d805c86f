// SPDX-License-Identifier: Apache-2.0
#include "fields.h"

#include <nanobind/stl/string.h>

#include "dfcl/core/error_makers.h"

namespace nb = nanobind;

namespace dfcl::python {
namespace {

bool is_text(nb::handle value) { return PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr()); }

// bool is a number to Python, and not to us; NumPy has one of its own.
bool is_flag(nb::handle value) {
  return PyBool_Check(value.ptr()) || nb::type_name(value.type()).equal(nb::str("numpy.bool")) ||
         nb::type_name(value.type()).equal(nb::str("numpy.bool_"));
}

bool is_path(nb::handle value) { return PyObject_HasAttrString(value.ptr(), "__fspath__") != 0; }

}  // namespace

void refuse_type(const char* field, nb::handle value, const char* expected) {
  const nb::object shown = nb::steal(PyObject_Repr(value.ptr()));
  std::string found = "a value";
  if (shown.is_valid()) found = nb::cast<std::string>(shown);
  PyErr_Clear();
  throw core::field_error(field, "a value of the wrong type", found, expected);
}

double to_number(const char* field, nb::handle value) {
  if (is_text(value) || is_flag(value) || value.is_none()) refuse_type(field, value, "a number");
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse_type(field, value, "a number");
  }
  return number;
}

std::int64_t to_whole_number(const char* field, nb::handle value) {
  if (is_text(value) || is_flag(value) || value.is_none()) refuse_type(field, value, "a whole number");
  const nb::object whole = nb::steal(PyNumber_Index(value.ptr()));
  if (!whole.is_valid()) {
    PyErr_Clear();
    refuse_type(field, value, "a whole number");
  }
  const long long number = PyLong_AsLongLong(whole.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse_type(field, value, "a whole number of at most 64 bits");
  }
  return number;
}

bool to_flag(const char* field, nb::handle value) {
  if (!is_flag(value)) refuse_type(field, value, "True or False");
  return PyObject_IsTrue(value.ptr()) == 1;
}

std::string to_text(const char* field, nb::handle value) {
  nb::object text = nb::borrow(value);
  if (!is_text(value) && is_path(value)) text = nb::steal(PyOS_FSPath(value.ptr()));
  if (!text.is_valid() || !PyUnicode_Check(text.ptr())) {
    PyErr_Clear();
    refuse_type(field, value, "a text");
  }
  std::string bytes = nb::cast<std::string>(text);
  if (bytes.empty()) throw core::field_error(field, "is empty");
  return bytes;
}

bool is_single(nb::handle value) {
  return is_text(value) || is_path(value) || is_flag(value) || value.is_none() ||
         (PyNumber_Check(value.ptr()) != 0 && PySequence_Check(value.ptr()) == 0);
}

}  // namespace dfcl::python
