// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/results/results_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "dfcl/core/error.h"
#include "dfcl/core/printable.h"
#include "dfcl/io/tensors/strict_json.h"
#include "dfcl/report/results/results_head.h"
#include "dfcl/report/results/results_schema.h"

namespace dfcl::report {
namespace {

constexpr int kMostDepth = 32;

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

std::string expected_of(const Schema& schema) {
  if (!schema.choices.empty()) return fmt::format("one of {}", fmt::join(schema.choices, ", "));
  switch (schema.kind) {
    case ValueKind::number: return "a number";
    case ValueKind::text: return "text";
    case ValueKind::number_or_text: return "a number or text";
    case ValueKind::flag: return "true or false";
    case ValueKind::list: return "a list";
    case ValueKind::map:
    case ValueKind::object: return "an object";
  }
  return "";
}

bool fits(const Json& value, ValueKind kind) {
  switch (kind) {
    case ValueKind::number: return value.is_number();
    case ValueKind::text: return value.is_string();
    case ValueKind::number_or_text: return value.is_number() || value.is_string();
    case ValueKind::flag: return value.is_boolean();
    case ValueKind::list: return value.is_array();
    case ValueKind::map:
    case ValueKind::object: return value.is_object();
  }
  return false;
}

// Walks a file beside its schema.
class Acceptance {
 public:
  explicit Acceptance(const std::string& where) : where_(where) {}

  // The part of `value` that the schema knows and the page gets.
  Json accept(const Json& value, const Schema& schema, const std::string& path) const {
    if (value.is_null()) return nullptr;
    if (!fits(value, schema.kind)) {
      refuse(where_, "a key of the wrong type", fmt::format("{} in '{}'", value.type_name(), path),
             expected_of(schema));
    }
    switch (schema.kind) {
      case ValueKind::list: return accept_list(value, *schema.element, path);
      case ValueKind::map: return accept_map(value, *schema.element, path);
      case ValueKind::object: return accept_object(value, schema, path);
      case ValueKind::text: accept_word(value, schema, path); break;
      default: break;
    }
    return value;
  }

 private:
  void accept_word(const Json& value, const Schema& schema, const std::string& path) const {
    if (schema.choices.empty()) return;
    const auto& word = value.get_ref<const std::string&>();
    if (std::find(schema.choices.begin(), schema.choices.end(), word) != schema.choices.end()) return;
    refuse(where_, "an unknown word", fmt::format("'{}' in '{}'", core::printable_start(word), path),
           expected_of(schema));
  }
  Json accept_list(const Json& value, const Schema& element, const std::string& path) const {
    Json list = Json::array();
    for (std::size_t i = 0; i < value.size(); ++i)
      list.push_back(accept(value[i], element, fmt::format("{}[{}]", path, i)));
    return list;
  }
  Json accept_map(const Json& value, const Schema& element, const std::string& path) const {
    Json map = Json::object();
    for (const auto& [label, one] : value.items())
      map[label] = accept(one, element, fmt::format("{}.{}", path, core::printable_start(label)));
    return map;
  }
  Json accept_object(const Json& value, const Schema& schema, const std::string& path) const {
    Json object = Json::object();
    for (const Field& field : schema.fields) {
      const auto found = value.find(field.name);
      if (found == value.end() || field.readers == Readers::page) continue;
      Json accepted = accept(*found, *field.type, path.empty() ? field.name : path + "." + field.name);
      if (field.readers == Readers::all) object[field.name] = std::move(accepted);
    }
    return object;
  }

  const std::string& where_;
};

}  // namespace

Json read_results(std::string_view text, const std::string& where) {
  const Json json = parse(text, where);
  const Json& format = at(json, "format");
  if (format != kResultsFormat) {
    refuse(where, "not a results file",
           format.is_string() ? "format '" + core::printable_start(text_at(json, "format"), 40) + "'" : "",
           fmt::format("\"format\": \"{}\"", kResultsFormat));
  }
  const Json& version = at(json, "format_version");
  if (version != kResultsVersion) {
    refuse(where, "a results file of another version", version.is_number() ? version.dump() : "none",
           std::to_string(kResultsVersion));
  }
  return Acceptance(where).accept(json, *results_schema(), "");
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

core::Interval interval_at(const Json& object, const char* key) {
  const Json& interval = at(object, key);
  return {number_at(interval, "value"), number_at(interval, "low"), number_at(interval, "high")};
}

}  // namespace dfcl::report
