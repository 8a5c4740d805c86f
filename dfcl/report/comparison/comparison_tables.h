// SPDX-License-Identifier: Apache-2.0
//
// The tables and figures of a comparison. Each gives no rows or series where there is nothing to show. Internal to
// report.
#pragma once

#include <vector>

#include "dfcl/report/comparison/comparison_report.h"
#include "dfcl/report/results/free_parts.h"

namespace dfcl::report {

// What the verdict speaks of: deployed plans over control, means over seeds with intervals over units and seeds.
Table deployed_table(const ComparisonReport& report);
// Whether a method is shown to earn more or less than the reference, over test units and over training seeds too; ""
// where there is one method.
std::string methods_sentence(const ComparisonReport& report);
// As published: revenue of plans that are cut by the evaluated cost, relative to the reference's at the first budget.
Table seeds_revenue_table(const ComparisonReport& report);
// Areas, fit and, with a truth, the share of the best possible increment.
Table seeds_quality_table(const ComparisonReport& report);
// Deployed plans against the reference's, with intervals over test units.
Table differences_table(const ComparisonReport& report);
Table failures_table(const ComparisonReport& report);
Table times_table(const ComparisonReport& report, const std::vector<compare::TrainingTime>& times);

Figure revenue_figure(const ComparisonReport& report);
// One for each key that was swept.
std::vector<Figure> sweep_figures(const ComparisonReport& report);

}  // namespace dfcl::report
