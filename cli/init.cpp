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
#include "dfcl/core/count_text.h"
#include "dfcl/core/printable.h"
#include "dfcl/report/text/text_table.h"

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
                                       {"propensity", columns.propensity.value_or("")},
                                       {"weight", columns.weight.value_or("")},
                                       {"guardrails", columns.guardrails},
                                       {"arm_cost", study.arms.cost},
                                       {"cost_per_revenue", study.arms.cost_per_revenue},
                                       {"missing", columns.missing},
                                       {"exclude", columns.exclude},
                                       {"unsure", result.unsure}};
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  fmt::print("{}\n", json.dump(2, ' ', false, replace));
}

std::string cost_without_column(const data::Study& study) {
  return study.arms.cost_per_revenue.empty() ? "no column: see [arms] cost" : "[arms] cost_per_revenue";
}

std::string init_text(const verbs::InitRequest& request, const verbs::InitResult& result) {
  const data::Study::Columns& columns = result.study.columns;
  using core::printable;
  const auto role = [](const std::optional<std::string>& name) {
    return name.value_or("").empty() ? std::string("(not found)") : printable(*name);
  };
  std::string text = report::wrap(fmt::format("{}: proposed from {} rows and {} columns. Please correct it, then run:",
                                              *request.output, core::count_text(result.rows), result.columns),
                                  0) +
                     fmt::format("\n  dfcl check {}\n", *request.output);
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<9}{}\n", name, report::wrap(value, 11, 89));
  };
  line("arm", role(columns.arm) + ", control " + role(result.study.arms.control));
  line("revenue", role(columns.revenue));
  line("cost", printable(columns.cost.value_or(cost_without_column(result.study))));
  line("id", printable(columns.id.value_or("the row number")));
  if (columns.time) line("time", printable(*columns.time));
  if (columns.cluster) line("cluster", printable(*columns.cluster));
  if (columns.propensity) line("p(arm)", printable(*columns.propensity));
  if (columns.weight) line("weight", printable(*columns.weight));
  if (!columns.guardrails.empty())
    text += "  " +
            report::wrap("guardrails: " + printable(fmt::format("{}", fmt::join(columns.guardrails, ", "))), 4, 98) +
            "\n";
  if (!columns.exclude.empty())
    text += "  " +
            report::wrap("no features: " + printable(fmt::format("{}", fmt::join(columns.exclude, ", "))), 4, 98) +
            "\n";
  if (result.unsure.empty()) return text;
  text += "Unsure, please check:\n";
  for (const auto& [key, reason] : result.unsure)
    text += "  " + report::wrap(fmt::format("{}: {}", key, printable(reason)), 4, 98) + "\n";
  return text;
}

}  // namespace

void add_init(Session& session) {
  const auto request = std::make_shared<verbs::InitRequest>();
  CLI::App& verb = session.add_verb(
      "init",
      "looks at a trial and writes a commented study file for it\n"
      "The data come first: what was randomised, what differs between the arms, what is zero in control; names\n"
      "decide only what they leave open. What is uncertain is marked in the file, with its reason, for you to correct.",
      "dfcl simulate --preset criteo --rows 5000 --seed 1 -o trial.parquet\ndfcl init trial.parquet -o "
      "first_study.toml",
      [request, &session](core::RunContext& context) {
        const verbs::InitResult result = verbs::init(*request, context);
        if (session.json()) {
          print_json(*request, result);
        } else {
          session.show(init_text(*request, result));
        }
        return 0;
      });
  verb.add_option("TRIAL", request->trial, "the trial: csv, csv.gz, parquet or arrow; a glob or a folder")->required();
  add_field(verb, "-o,--output", request->output, "the study file to write")->required();
  add_field(verb, "--arm", request->arm, "the column of the arm, if you know it");
  add_field(verb, "--control", request->control, "the control arm");
  add_field(verb, "--revenue", request->revenue, "the column of the revenue");
  add_field(verb, "--cost", request->cost, "the column of the cost");
}

}  // namespace dfcl::cli
