// SPDX-License-Identifier: Apache-2.0
//
// Uses an installed dfcl as a stranger would: writes a simulated trial and its study, reads them back, checks the
// trial, and plans a budget with the true outcomes. Exits 0 if the answers are right.
#include <cstdio>

#include "dfcl/allocate/allocate.h"
#include "dfcl/check/check.h"
#include "dfcl/core/error.h"
#include "dfcl/core/run_context.h"
#include "dfcl/io/predictions/prediction_file.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tables/table_writer.h"
#include "dfcl/io/trial/trial_reader.h"
#include "dfcl/report/check/check_report.h"
#include "dfcl/simulate/batch_sources.h"
#include "dfcl/simulate/simulator.h"
#include "dfcl/simulate/study_text.h"

namespace {

void write_all(const char* path, dfcl::data::BatchSource& source) {
  dfcl::io::TableWriter writer(path, source.columns(), {"table", "", "consumer", {}});
  for (dfcl::data::Batch batch; source.next(batch);) writer.write(batch);
  writer.commit();
}

bool trial_is_fit(dfcl::core::RunContext& context) {
  const dfcl::data::Study study = dfcl::io::read_study("study.toml");
  const dfcl::data::Trial trial = dfcl::io::read_trial(study, context);
  const dfcl::check::CheckResult result = dfcl::check::check_trial(trial, study, context);
  std::printf("%s", dfcl::report::check_text(result).c_str());
  return result.fit && result.num_units == 5000 && result.arms.size() == 5;
}

bool plan_keeps_the_budget(dfcl::core::RunContext& context) {
  const dfcl::io::PredictionTable truth = dfcl::io::read_prediction("truth.parquet", "", context);
  const dfcl::allocate::Problem problem{truth.prediction.revenue.view(), truth.prediction.cost.view()};
  const double budget = 0.2 * dfcl::allocate::spend_range(problem, context).costliest;
  const dfcl::allocate::Solution plan = dfcl::allocate::allocate(problem, budget, context);
  std::printf("value %g of at most %g, spend %g of %g\n", plan.value, plan.bound, plan.spend, budget);
  return plan.has_plan() && plan.arm.size() == 5000 && plan.spend <= budget && plan.value <= plan.bound &&
         plan.value > 0.99 * plan.bound && plan.revenue > plan.control_revenue;
}

// Errors cross the border of the library.
bool error_arrives(dfcl::core::RunContext& context) {
  try {
    (void)dfcl::io::read_prediction("nowhere.parquet", "", context);
  } catch (const dfcl::core::Error& error) {
    return error.kind() == dfcl::core::ErrorKind::file;
  }
  return false;
}

}  // namespace

int main() {
  dfcl::core::RunContext context(2);
  dfcl::simulate::SimulatorOptions options;
  options.num_rows = 5000;
  options.seed = 1;
  const dfcl::simulate::Simulator simulator(options);
  write_all("trial.parquet", *dfcl::simulate::trial_source(simulator));
  write_all("truth.parquet", *dfcl::simulate::truth_source(simulator));
  dfcl::io::write_text_file("study.toml", dfcl::simulate::study_text(simulator, "trial.parquet"));
  return trial_is_fit(context) && plan_keeps_the_budget(context) && error_arrives(context) ? 0 : 1;
}
