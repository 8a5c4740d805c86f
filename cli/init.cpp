// SPDX-License-Identifier: Apache-2.0
//
// dfcl init: a first study file for a trial.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/error.h"
#include "dfcl/data/study_guess.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tables/table_summary_reader.h"
#include "dfcl/io/trial/trial_reader.h"
#include "dfcl/data/budgets.h"

namespace dfcl::cli {
namespace {

namespace fs = std::filesystem;

struct InitFlags {
  std::string trial;
  std::string output;
  bool overwrite = false;
};

// Control may cost something itself, and budgets must lie above that. A trial that cannot be read by the guess has
// other things to correct first.
void guess_budgets(data::StudyGuess& guess, const data::TableSummary& summary, const std::string& path,
                   core::RunContext& context) {
  data::Study study = guess.study;
  const data::Study::Columns& columns = study.columns;
  if (!columns.cost || columns.arm.empty() || columns.revenue.empty()) return;
  study.data.trial = fs::absolute(path).string();
  study.columns.features.clear();
  for (const data::ColumnSummary& column : summary.columns) {  // one is needed, and one is quick to read
    const std::set<std::optional<std::string>> roles = {columns.id,   columns.arm,     columns.revenue,   columns.cost,
                                                        columns.time, columns.cluster, columns.propensity};
    const auto excluded = std::find(columns.exclude.begin(), columns.exclude.end(), column.name);
    if (!column.is_number || roles.contains(column.name) || excluded != columns.exclude.end()) continue;
    study.columns.features = {column.name};
    break;
  }
  try {
    const data::Trial trial = io::read_trial(study, context);
    data::guess_budgets(guess, data::arm_costs(trial).mean, trial.arms.control);
  } catch (const core::Error& error) {
    if (error.kind() == core::ErrorKind::interrupted) throw;
  }
}

int run_init(const InitFlags& flags, core::RunContext& context) {
  if (fs::exists(flags.output) && !flags.overwrite) {
    throw core::Error({.kind = core::ErrorKind::file,
                       .what = "the study file is there already",
                       .where = flags.output,
                       .hint = "choose another name, or --overwrite if its corrections may be lost"});
  }
  const data::TableSummary summary = io::summarize_table(flags.trial, context);
  data::StudyGuess guess = data::guess_study(summary);
  guess_budgets(guess, summary, flags.trial, context);
  const fs::path folder = fs::absolute(flags.output).lexically_normal().parent_path();
  const fs::path relative = fs::absolute(flags.trial).lexically_normal().lexically_relative(folder);
  guess.study.data.trial = relative.empty() ? fs::absolute(flags.trial).string() : relative.generic_string();
  io::write_text_file(flags.output, io::study_text(guess.study, guess.remarks));

  const data::Study::Columns& columns = guess.study.columns;
  const auto role = [](const std::optional<std::string>& name) {
    return name.value_or("").empty() ? std::string("(not found)") : *name;
  };
  fmt::print("{}: a guess from {} rows and {} columns. Please correct it, then run: dfcl check {}\n", flags.output,
             summary.rows, summary.columns.size(), flags.output);
  fmt::print("  arm      {}, control {}\n  revenue  {}\n  cost     {}\n  id       {}\n", role(columns.arm),
             role(guess.study.arms.control), role(columns.revenue),
             columns.cost.value_or("no column: see [arms] cost"),
             columns.id.value_or("the row number"));
  if (columns.time) fmt::print("  time     {}\n", *columns.time);
  if (columns.cluster) fmt::print("  cluster  {}\n", *columns.cluster);
  if (!columns.exclude.empty())
    fmt::print("  left out as measured after the arm: {}\n", fmt::join(columns.exclude, ", "));
  return 0;
}

}  // namespace

void add_init(Session& session) {
  const auto flags = std::make_shared<InitFlags>();
  CLI::App& verb = session.add_verb(
      "init",
      "look at a trial and write a commented study file for it\n"
      "The roles of the columns are guessed from names, types and values; every guess is for you to correct.",
      "dfcl simulate --preset criteo --rows 5000 --seed 1 -o trial.parquet\ndfcl init trial.parquet -o "
      "first_study.toml",
      [flags](core::RunContext& context) { return run_init(*flags, context); });
  verb.add_option("TRIAL", flags->trial, "the trial: csv, csv.gz, parquet or arrow; a glob or a folder")->required();
  verb.add_option("-o,--output", flags->output, "the study file to write")->required();
  verb.add_flag("--overwrite", flags->overwrite, "replace a study file that is there");
}

}  // namespace dfcl::cli
