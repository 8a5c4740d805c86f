// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/results/results_schema.h"

#include "dfcl/report/comparison/comparison_description.h"
#include "dfcl/report/evaluation/evaluation_description.h"
#include "dfcl/report/launch/deploy_description.h"
#include "dfcl/report/launch/power_description.h"
#include "dfcl/report/launch/readout_description.h"
#include "dfcl/report/results/results_head.h"

namespace dfcl::report {

const std::vector<ResultsKind>& results_kinds() {
  static const std::vector<ResultsKind> kinds = {
      {"evaluation", "evaluate", "Evaluation of plans", description(Of<EvaluationReport>{}).schema()},
      {"comparison", "compare", "Comparison of methods", description(Of<ComparisonReport>{}).schema()},
      {"deployment", "deploy", "Simulated deployment", description(Of<DeployReport>{}).schema()},
      {"readout", "readout", "Readout of a launch", description(Of<ReadoutReport>{}).schema()},
      {"power", "power", "Size of the next trial", description(Of<PowerReport>{}).schema()}};
  return kinds;
}

SchemaPtr results_head_schema() { return description(Of<ResultsHead>{}).schema(); }

SchemaPtr results_schema() {
  static const SchemaPtr all = [] {
    std::vector<SchemaPtr> schemas;
    for (const ResultsKind& kind : results_kinds()) schemas.push_back(kind.schema);
    return merged_schema("Results", "A results file, of any kind.", schemas);
  }();
  return all;
}

}  // namespace dfcl::report
