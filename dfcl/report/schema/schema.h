// SPDX-License-Identifier: Apache-2.0
//
// What a results file may hold: objects with named fields, lists and values, each with a sentence. The writer of
// results files (described.h), their validator (results_file.h), the types of the page (typescript.h) and the reference
// page (reference_page.h) all come from it. A few hundred small objects, made once.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace dfcl::report {

enum class ValueKind { number, text, number_or_text, flag, list, map, object };

struct Schema;
using SchemaPtr = std::shared_ptr<const Schema>;

// As dfcl writes it. A number that does not exist (no interval is claimed, a mean of nothing) is null everywhere.
enum class Presence { required, always, nullable, sometimes };

// Who reads a field. The page gets no field that is for programs only; what is for the page only is made by dfcl
// report.
enum class Readers { all, programs, page };

struct Field {
  std::string name;
  SchemaPtr type;
  std::string sentence;  // starts small, ends without a full stop
  std::string unit;      // "per unit", "share", ...; "" where there is none
  Presence presence = Presence::always;
  Readers readers = Readers::all;
};

struct Schema {
  ValueKind kind = ValueKind::object;
  std::string name = {};                  // of an object: its name in TypeScript and on the reference page
  std::string sentence = {};              // of an object
  std::vector<Field> fields = {};         // of an object, in the order of the file
  SchemaPtr element = {};                 // of a list or map
  std::vector<std::string> choices = {};  // of a text; empty: any
};

SchemaPtr number_schema();
SchemaPtr text_schema();
SchemaPtr number_or_text_schema();
SchemaPtr flag_schema();
SchemaPtr interval_schema();
SchemaPtr list_schema(SchemaPtr element);
SchemaPtr map_schema(SchemaPtr element);
SchemaPtr choice_schema(std::vector<std::string> choices);

// Whether two describe the same JSON; sentences aside.
bool same_shape(const Schema& a, const Schema& b);

// The fields of all of them, each once. Throws Error of kind internal where two with one name differ in shape.
SchemaPtr merged_schema(std::string name, std::string sentence, const std::vector<SchemaPtr>& objects);

}  // namespace dfcl::report
