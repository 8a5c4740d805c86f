// SPDX-License-Identifier: Apache-2.0
//
// Values of Python for the fields of a request. A value of another type is refused by core::Error, which names the
// field; ranges, words and combinations are for the verbs to check.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dfcl/core/words.h"
#include "dfcl/data/study.h"
#include "dfcl/model/model.h"
#include "dfcl/verbs/model_input.h"
#include "dfcl/verbs/study_input.h"
#include "tables.h"

namespace dfcl::python {

struct ModelHandle {
  std::shared_ptr<const model::Model> model;
};

[[noreturn]] void refuse_type(const char* field, nanobind::handle value, const char* expected);

double to_number(const char* field, nanobind::handle value);
std::int64_t to_whole_number(const char* field, nanobind::handle value);
bool to_flag(const char* field, nanobind::handle value);
std::string to_text(const char* field, nanobind::handle value);  // a text or a path; refuses ""
bool is_single(nanobind::handle value);                          // a text, a path or a number, no list of them

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

template <class T>
T from_python(const char* field, nanobind::handle value) {
  if constexpr (IsOptional<T>::value) {
    if (value.is_none()) return std::nullopt;
    return from_python<typename T::value_type>(field, value);
  } else if constexpr (IsVector<T>::value) {
    using Entry = typename T::value_type;
    if (is_single(value)) return {from_python<Entry>(field, value)};
    T list;
    const nanobind::object entries = nanobind::steal(PySequence_Fast(value.ptr(), ""));
    if (!entries.is_valid()) {
      PyErr_Clear();
      refuse_type(field, value, "a list");
    }
    for (nanobind::handle entry : entries) list.push_back(from_python<Entry>(field, entry));
    if (list.empty()) throw core::field_error(field, "is empty");
    return list;
  } else if constexpr (std::same_as<T, bool>) {
    return to_flag(field, value);
  } else if constexpr (std::same_as<T, double>) {
    return to_number(field, value);
  } else if constexpr (std::same_as<T, std::int64_t>) {
    return to_whole_number(field, value);
  } else if constexpr (std::same_as<T, std::shared_ptr<const model::Model>>) {
    return nanobind::cast<const ModelHandle&>(value).model;
  } else if constexpr (std::same_as<T, std::shared_ptr<const data::Prediction>>) {
    return nanobind::cast<const PredictionTable&>(value).prediction;
  } else if constexpr (std::same_as<T, verbs::ModelInput>) {
    return nanobind::cast<const verbs::ModelInput&>(value);
  } else if constexpr (std::is_enum_v<T>) {
    return core::parse_word<T>(to_text(field, value), field);
  } else {
    return to_text(field, value);
  }
}

// The fields of a request by their names.
template <class Request>
class RequestFields {
 public:
  template <class T>
  RequestFields& add(const char* name, T Request::*member) {
    return add(name,
               [name, member](Request& self, nanobind::handle value) { self.*member = from_python<T>(name, value); });
  }
  RequestFields& add(const char* name, std::function<void(Request&, nanobind::handle)> set) {
    setters_[name] = std::move(set);
    return *this;
  }
  // The study and its trial.
  RequestFields& add_study(verbs::StudyInput Request::*member) {
    add("study", [member](Request& self, nanobind::handle value) {
      (self.*member).study = nanobind::cast<const data::Study&>(value);
    });
    return add("trial",
               [member](Request& self, nanobind::handle value) { (self.*member).trial = to_text("trial", value); });
  }

  // A class with set(name, value); values are checked as they are set.
  void bind(nanobind::module_& module, const char* type_name) {
    nanobind::class_<Request>(module, type_name)
        .def(nanobind::init<>())
        .def("set", [setters = setters_](Request& self, const std::string& name, nanobind::object value) {
          setters.at(name)(self, value);
        });
  }

 private:
  std::map<std::string, std::function<void(Request&, nanobind::handle)>> setters_;
};

}  // namespace dfcl::python
