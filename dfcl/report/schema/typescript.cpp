// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/schema/typescript.h"

#include <fmt/format.h>

#include <set>

namespace dfcl::report {
namespace {

class Writer {
 public:
  std::string text;

  // An object after those that it holds, each once.
  void write(const Schema& object) {
    if (!written_.insert(object.name).second) return;
    for (const Field& field : object.fields) write_objects_of(field);
    text += fmt::format("\n// {}\nexport interface {} {{\n", object.sentence, object.name);
    for (const Field& field : object.fields) {
      if (field.readers == Readers::programs) continue;
      const bool required = field.presence == Presence::required;
      text += fmt::format("  {}{}: {};{}\n", field.name, required ? "" : "?",
                          required ? type_text(*field.type) : fmt::format("Maybe<{}>", type_text(*field.type)),
                          field.unit.empty() ? "" : fmt::format(" // {}", field.unit));
    }
    text += "}\n";
  }

 private:
  void write_objects_of(const Field& field) {
    if (field.readers == Readers::programs) return;
    const Schema* type = field.type.get();
    while (type->element != nullptr) type = type->element.get();
    if (type->kind == ValueKind::object) write(*type);
  }

  static std::string type_text(const Schema& type) {
    switch (type.kind) {
      case ValueKind::number: return "number";
      case ValueKind::text:
        return type.choices.empty() ? "string" : fmt::format("\"{}\"", fmt::join(type.choices, "\" | \""));
      case ValueKind::number_or_text: return "number | string";
      case ValueKind::flag: return "boolean";
      case ValueKind::list: return fmt::format("Maybe<{}>[]", type_text(*type.element));
      case ValueKind::map: return fmt::format("Record<string, Maybe<{}>>", type_text(*type.element));
      case ValueKind::object: return type.name;
    }
    return "unknown";
  }

  std::set<std::string> written_;
};

}  // namespace

std::string typescript_types(const Schema& root) {
  Writer writer;
  writer.write(root);
  return "// SPDX-License-Identifier: Apache-2.0\n"
         "//\n"
         "// The keys of a results file that reach the page, made from their one description in dfcl/report; a test of "
         "that\n"
         "// room compares this file with it (docs/architecture.md). Do not edit it.\n\n"
         "export type Maybe<T> = T | null | undefined;\n" +
         writer.text;
}

}  // namespace dfcl::report
