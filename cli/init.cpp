// SPDX-License-Identifier: Apache-2.0
//
// dfcl init: a first study file for a trial.
#include "dfcl/verbs/init.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/bind.h"
#include "cli/session.h"
#include "cli/verbs.h"

namespace dfcl::cli {
namespace {

void print_json(const verbs::InitRequest& request, const verbs::InitResult& result) {
  const data::Study& study = result.study;
  const data::Study::Columns& columns = study.columns;
  const nlohmann::ordered_json json = {{"file", *request.output},
                                       {"rows", result.rows},
                                       {"columns", result.columns},
                                       {"arm", columns.arm},
                                       {"control", study.arms.control.value_or("")},
                                       {"revenue", columns.revenue},
                                       {"cost", columns.cost.value_or("")},
                                       {"id", columns.id.value_or("")},
                                       {"time", columns.time.value_or("")},
                                       {"cluster", columns.cluster.value_or("")},
                                       {"exclude", columns.exclude}};
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  fmt::print("{}\n", json.dump(2, ' ', false, replace));
}

void print_text(const verbs::InitRequest& request, const verbs::InitResult& result) {
  const data::Study::Columns& columns = result.study.columns;
  const auto role = [](const std::optional<std::string>& name) {
    return name.value_or("").empty() ? std::string("(not found)") : *name;
  };
  fmt::print("{0}: a guess from {1} rows and {2} columns. Please correct it, then run: dfcl check {0}\n",
             *request.output, result.rows, result.columns);
  fmt::print("  arm      {}, control {}\n  revenue  {}\n  cost     {}\n  id       {}\n", role(columns.arm),
             role(result.study.arms.control), role(columns.revenue),
             columns.cost.value_or("no column: see [arms] cost"), columns.id.value_or("the row number"));
  if (columns.time) fmt::print("  time     {}\n", *columns.time);
  if (columns.cluster) fmt::print("  cluster  {}\n", *columns.cluster);
  if (!columns.exclude.empty())
    fmt::print("  left out as measured after the arm: {}\n", fmt::join(columns.exclude, ", "));
}

}  // namespace

void add_init(Session& session) {
  const auto request = std::make_shared<verbs::InitRequest>();
  CLI::App& verb = session.add_verb(
      "init",
      "look at a trial and write a commented study file for it\n"
      "The roles of the columns are guessed from names, types and values; every guess is for you to correct.",
      "dfcl simulate --preset criteo --rows 5000 --seed 1 -o trial.parquet\ndfcl init trial.parquet -o "
      "first_study.toml",
      [request, &session](core::RunContext& context) {
        const verbs::InitResult result = verbs::init(*request, context);
        session.json() ? print_json(*request, result) : print_text(*request, result);
        return 0;
      });
  verb.add_option("TRIAL", request->trial, "the trial: csv, csv.gz, parquet or arrow; a glob or a folder")->required();
  add_field(verb, "-o,--output", request->output, "the study file to write")->required();
  verb.add_flag("--overwrite", request->overwrite, "replace a study file that is there");
}

}  // namespace dfcl::cli
