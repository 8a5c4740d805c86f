// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/results/results_format.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/report/plan/plan_description.h"
#include "dfcl/report/results/results_schema.h"
#include "dfcl/report/schema/reference_page.h"
#include "dfcl/report/schema/typescript.h"

namespace dfcl::report {
namespace {

constexpr const char* kIntroduction =
    "# The format of results files\n\n"
    "What `evaluate`, `compare`, `deploy`, `readout` and `power` write with `-o` and print with `--json`, and what "
    "`dfcl "
    "report`\n"
    "reads. This page is made from the program's own description of its results; a test compares them.\n\n"
    "A results file is one JSON object. A number that does not exist (no interval is claimed, a mean of nothing) is "
    "null. "
    "Lists\n"
    "by arm are in the order of `trial.arms`, lists by budget in that of `budgets`. Equal inputs, options and seed "
    "give "
    "equal\n"
    "bytes, for any number of threads. `dfcl report` takes files of your own too: all but `format` and "
    "`format_version` "
    "may be\n"
    "absent or null there, and keys that it does not know are left out.\n";

bool is_of_head(const Field& field) {
  const SchemaPtr head = results_head_schema();
  return std::any_of(head->fields.begin(), head->fields.end(),
                     [&](const Field& other) { return other.name == field.name; });
}

}  // namespace

std::string results_format_page() {
  std::string page = kIntroduction;
  page += "\n## Every results file\n\n" + keys_table(results_head_schema()->fields);
  std::vector<SchemaPtr> roots;
  for (const ResultsKind& kind : results_kinds()) {
    std::vector<Field> fields = kind.schema->fields;
    std::erase_if(fields, is_of_head);
    page += fmt::format("\n## `\"kind\": \"{}\"`\n\n{} Written by `dfcl {}`.\n\n{}", kind.name, kind.schema->sentence,
                        kind.verb, keys_table(fields));
    roots.push_back(kind.schema);
  }
  const SchemaPtr plan = description(Of<PlanSummary>{}).schema();
  page +=
      "\n## What `dfcl allocate --json` prints\n\nNo results file, but described in the same way; several plans stand "
      "under `plans`.\n\n" +
      keys_table(plan->fields);
  roots.push_back(plan);
  return page + "\n## Objects\n" + objects_text(roots);
}

std::string results_format_types() { return typescript_types(*results_schema()); }

}  // namespace dfcl::report
