// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/schema/reference_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "dfcl/core/error.h"

namespace dfcl::report {
namespace {

std::string anchor(const std::string& name) {
  std::string small = name;
  std::transform(small.begin(), small.end(), small.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return fmt::format("[{}](#{})", name, small);
}

std::string type_text(const Schema& type) {
  switch (type.kind) {
    case ValueKind::number: return "number";
    case ValueKind::text: return type.choices.empty() ? "text" : fmt::format("`{}`", fmt::join(type.choices, "`, `"));
    case ValueKind::number_or_text: return "number or text";
    case ValueKind::flag: return "true or false";
    case ValueKind::list: return "list of " + type_text(*type.element);
    case ValueKind::map: return "by label: " + type_text(*type.element);
    case ValueKind::object: return anchor(type.name);
  }
  return "";
}

std::string presence_text(Presence presence) {
  switch (presence) {
    case Presence::required:
    case Presence::always: return "";
    case Presence::nullable: return "may be null";
    case Presence::sometimes: return "may be absent";
  }
  return "";
}

void collect(const Schema& type, std::map<std::string, const Schema*>& objects) {
  if (type.element != nullptr) collect(*type.element, objects);
  for (const Field& field : type.fields) {
    if (field.readers == Readers::page) continue;
    const Schema* inner = field.type.get();
    while (inner->element != nullptr) inner = inner->element.get();
    if (inner->kind != ValueKind::object) continue;
    const auto [place, is_new] = objects.emplace(inner->name, inner);
    if (is_new) collect(*inner, objects);
    if (!same_shape(*place->second, *inner))
      throw core::Error({.what = fmt::format("two results have different objects called {}", inner->name)});
  }
}

}  // namespace

std::string keys_table(const std::vector<Field>& fields) {
  std::string text = "| key | type | unit | there | what |\n|---|---|---|---|---|\n";
  for (const Field& field : fields) {
    if (field.readers == Readers::page) continue;
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", field.name, type_text(*field.type), field.unit,
                        presence_text(field.presence), field.sentence);
  }
  return text;
}

std::string objects_text(const std::vector<SchemaPtr>& roots) {
  std::map<std::string, const Schema*> objects;
  for (const SchemaPtr& root : roots) collect(*root, objects);
  std::string text;
  for (const auto& [name, object] : objects)
    text += fmt::format("\n### {}\n\n{}\n\n{}", name, object->sentence, keys_table(object->fields));
  return text;
}

}  // namespace dfcl::report
