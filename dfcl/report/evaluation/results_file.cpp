// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/evaluation/results_file.h"

#include <fmt/format.h>

#include <limits>

#include "dfcl/core/error.h"
#include "dfcl/core/printable.h"
#include "dfcl/io/tensors/strict_json.h"
#include "dfcl/report/evaluation/results_shape.h"

namespace dfcl::report {
namespace {

constexpr int kMostDepth = 32;
constexpr const char* kFormat = "dfcl-results";
constexpr int kVersion = 1;

[[noreturn]] void refuse(const std::string& where, std::string what, std::string found, std::string expected) {
  throw core::Error({.kind = core::ErrorKind::data,
                     .what = std::move(what),
                     .where = where,
                     .found = std::move(found),
                     .expected = std::move(expected),
                     .hint = "results files come from dfcl evaluate, compare, deploy, readout and power"});
}

Json parse(std::string_view text, const std::string& where) {
  try {
    return io::parse_strictly(text, kMostDepth, where);
  } catch (const core::Error& error) {
    refuse(where, error.details().what, error.details().found, "a results file of dfcl");
  }
}

const char* name_of(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::number: return "a number";
    case ShapeKind::text: return "text";
    case ShapeKind::number_or_text: return "a number or text";
    case ShapeKind::flag: return "true or false";
    case ShapeKind::list: return "a list";
    case ShapeKind::object: return "an object";
  }
  return "";
}

bool fits(const Json& value, ShapeKind kind) {
  switch (kind) {
    case ShapeKind::number: return value.is_number();
    case ShapeKind::text: return value.is_string();
    case ShapeKind::number_or_text: return value.is_number() || value.is_string();
    case ShapeKind::flag: return value.is_boolean();
    case ShapeKind::list: return value.is_array();
    case ShapeKind::object: return value.is_object();
  }
  return false;
}

// The part of `value` that the shape knows.
Json accept(const Json& value, const Shape& shape, const std::string& path, const std::string& where) {
  if (value.is_null()) return nullptr;
  if (!fits(value, shape.kind)) {
    refuse(where, "a key of the wrong type", fmt::format("{} in '{}'", value.type_name(), core::printable(path)),
           name_of(shape.kind));
  }
  if (shape.kind == ShapeKind::list) {
    Json list = Json::array();
    for (std::size_t i = 0; i < value.size(); ++i) {
      list.push_back(accept(value[i], *shape.element, fmt::format("{}[{}]", path, i), where));
    }
    return list;
  }
  if (shape.kind != ShapeKind::object) return value;
  Json object = Json::object();
  for (const auto& [key, part] : shape.keys) {
    const auto found = value.find(key);
    if (found == value.end()) continue;
    object[key] = accept(*found, *part, path.empty() ? std::string(key) : path + "." + key, where);
  }
  return object;
}

}  // namespace

Json read_results(std::string_view text, const std::string& where) {
  const Json json = parse(text, where);
  const Json& format = at(json, "format");
  if (format != kFormat) {
    refuse(where, "not a results file",
           format.is_string() ? "format '" + core::printable_start(text_at(json, "format"), 40) + "'" : "",
           fmt::format("\"format\": \"{}\"", kFormat));
  }
  const Json& version = at(json, "format_version");
  if (version != kVersion) {
    refuse(where, "a results file of another version", version.is_number() ? version.dump() : "none",
           std::to_string(kVersion));
  }
  return accept(json, results_shape(), "", where);
}

const Json& at(const Json& object, const char* key) {
  static const Json none = nullptr;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

const Json& at(const Json& list, std::size_t place) {
  static const Json none = nullptr;
  return list.is_array() && place < list.size() ? list[place] : none;
}

double number_at(const Json& object, const char* key) {
  const Json& value = at(object, key);
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::string text_at(const Json& object, const char* key) {
  const Json& value = at(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

bool flag_at(const Json& object, const char* key) {
  const Json& value = at(object, key);
  return value.is_boolean() && value.get<bool>();
}

}  // namespace dfcl::report
