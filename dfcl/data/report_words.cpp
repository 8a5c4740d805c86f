// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/report_words.h"

#include <filesystem>

namespace dfcl::data {

ReportWords report_words(const Study& study) {
  const Study::Report& report = study.report;
  return {report.title.value_or(std::filesystem::path(study.data.trial.value_or("")).stem().string()),
          report.currency.value_or(""),
          report.revenue_name.value_or(study.columns.revenue),
          report.cost_name.value_or(study.columns.cost.value_or("cost")),
          report.decimal,
          report.thousands};
}

}  // namespace dfcl::data
