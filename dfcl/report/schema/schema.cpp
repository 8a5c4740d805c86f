// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/schema/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dfcl/core/error.h"

namespace dfcl::report {
namespace {

SchemaPtr value_schema(ValueKind kind) { return std::make_shared<const Schema>(Schema{.kind = kind}); }

}  // namespace

SchemaPtr number_schema() {
  static const SchemaPtr schema = value_schema(ValueKind::number);
  return schema;
}

SchemaPtr text_schema() {
  static const SchemaPtr schema = value_schema(ValueKind::text);
  return schema;
}

SchemaPtr number_or_text_schema() {
  static const SchemaPtr schema = value_schema(ValueKind::number_or_text);
  return schema;
}

SchemaPtr flag_schema() {
  static const SchemaPtr schema = value_schema(ValueKind::flag);
  return schema;
}

SchemaPtr interval_schema() {
  static const SchemaPtr schema = std::make_shared<const Schema>(
      Schema{.name = "Interval",
             .sentence = "An estimate with its interval; the ends are null where no interval is claimed.",
             .fields = {{"value", number_schema(), "the estimate", ""},
                        {"low", number_schema(), "lower end of the interval", ""},
                        {"high", number_schema(), "upper end of the interval", ""}}});
  return schema;
}

SchemaPtr list_schema(SchemaPtr element) {
  return std::make_shared<const Schema>(Schema{.kind = ValueKind::list, .element = std::move(element)});
}

SchemaPtr map_schema(SchemaPtr element) {
  return std::make_shared<const Schema>(Schema{.kind = ValueKind::map, .element = std::move(element)});
}

SchemaPtr choice_schema(std::vector<std::string> choices) {
  return std::make_shared<const Schema>(Schema{.kind = ValueKind::text, .choices = std::move(choices)});
}

bool same_shape(const Schema& a, const Schema& b) {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.choices != b.choices || a.fields.size() != b.fields.size()) return false;
  if ((a.element == nullptr) != (b.element == nullptr)) return false;
  if (a.element != nullptr && !same_shape(*a.element, *b.element)) return false;
  return std::equal(a.fields.begin(), a.fields.end(), b.fields.begin(), [](const Field& one, const Field& other) {
    return one.name == other.name && same_shape(*one.type, *other.type);
  });
}

SchemaPtr merged_schema(std::string name, std::string sentence, const std::vector<SchemaPtr>& objects) {
  Schema merged{.name = std::move(name), .sentence = std::move(sentence)};
  for (const SchemaPtr& object : objects) {
    for (const Field& field : object->fields) {
      const auto same_name = [&](const Field& other) { return other.name == field.name; };
      const auto found = std::find_if(merged.fields.begin(), merged.fields.end(), same_name);
      if (found == merged.fields.end()) {
        merged.fields.push_back(field);
      } else if (!same_shape(*found->type, *field.type)) {
        throw core::Error({.what = fmt::format("two results describe '{}' in different ways", field.name)});
      }
    }
  }
  return std::make_shared<const Schema>(std::move(merged));
}

}  // namespace dfcl::report
