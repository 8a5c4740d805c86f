// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/trial/trial_size.h"

#include <string>
#include <vector>

#include "dfcl/io/tables/file_format.h"
#include "dfcl/io/tables/record_source.h"
#include "dfcl/io/trial/trial_plan.h"
#include "dfcl/io/trial/trial_reader.h"

namespace dfcl::io {

TrialSize trial_size(const data::Study& study) {
  const std::string path = trial_path(study);
  const std::string first = input_files(path).front();
  TrialPlan plan;
  bool has_text_ids = false;
  {
    const auto source = open_records(first, 1);
    plan = plan_trial(study, *source->schema(), source->is_text_file(), first);
    if (plan.id != TrialPlan::kNone) {
      const auto field = source->schema()->GetFieldByName(plan.wanted[static_cast<std::size_t>(plan.id)].name);
      has_text_ids = field == nullptr || !arrow::is_integer(field->type()->id());
    }
  }
  std::vector<std::string> columns;
  for (const WantedColumn& column : plan.wanted) columns.push_back(column.name);
  TrialSize size{table_size(path, columns), static_cast<double>(plan.features.size()), 0.0};
  // TrialBuilder's columns: arm, revenue, cost, split, the hash that splits, ids (8 bytes; texts: the place where they
  // end and some 24 letters), and what the study names beside them.
  const auto if_there = [](int column, double bytes) { return column == TrialPlan::kNone ? 0.0 : bytes; };
  size.unit_bytes = 4.0 * size.features + 1.0 + 4.0 + 4.0 + 1.0 + 8.0;
  size.unit_bytes +=
      if_there(plan.id, has_text_ids ? 32.0 : 8.0) + if_there(plan.time, 4.0) + if_there(plan.cluster, 20.0);
  size.unit_bytes += if_there(plan.propensity, 4.0) + if_there(plan.weight, 4.0);
  size.unit_bytes += 4.0 * static_cast<double>(plan.guardrails.size());
  return size;
}

}  // namespace dfcl::io
