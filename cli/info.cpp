// SPDX-License-Identifier: Apache-2.0
//
// dfcl info: what a file is.
#include "dfcl/verbs/info.h"

#include <fmt/format.h>

#include <memory>

#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/report/files/machine_report.h"
#include "dfcl/report/files/model_report.h"
#include "dfcl/report/files/table_report.h"

namespace dfcl::cli {
namespace {

int run_info(const verbs::InfoRequest& request, const Session& session, core::RunContext& context) {
  const verbs::InfoResult result = verbs::info(request, context);
  if (const auto* model = std::get_if<model::Model>(&result)) {
    if (session.json()) {
      fmt::print("{}", report::model_json(*model));
    } else {
      session.show(report::model_text(*model, request.file, session.length()));
    }
  } else if (const auto* table = std::get_if<data::TableSummary>(&result)) {
    if (session.json()) {
      fmt::print("{}", report::table_json(*table));
    } else {
      session.show(report::table_text(*table, request.file, session.length()));
    }
  } else if (const auto* machine = std::get_if<train::Machine>(&result)) {
    if (session.json()) {
      fmt::print("{}", report::machine_json(*machine));
    } else {
      session.show(report::machine_text(*machine, session.length()));
    }
  } else {
    fmt::print("{}", std::get<std::string>(result));
  }
  return 0;
}

}  // namespace

void add_info(Session& session) {
  const auto request = std::make_shared<verbs::InfoRequest>();
  CLI::App& verb = session.add_verb(
      "info",
      "describes a file: rows, columns, types, ranges, and how it was made\n"
      "A trial, truth, prediction or plan: csv, csv.gz, parquet or arrow; a glob or a folder counts as one table. Or a "
      "model.",
      "dfcl simulate --preset criteo --rows 5000 --seed 1 -o trial.parquet\ndfcl info trial.parquet",
      [request, &session](core::RunContext& context) { return run_info(*request, session, context); });
  verb.add_option("FILE", request->file, "the file to look at");
  verb.add_flag("--study-keys", request->study_keys, "print every key of a study file instead, as Markdown");
  verb.add_flag("--machine", request->machine, "say instead what this machine is, which kernels run and how fast");
}

}  // namespace dfcl::cli
