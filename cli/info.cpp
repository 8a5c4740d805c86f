// SPDX-License-Identifier: Apache-2.0
//
// dfcl info: what a file is.
#include <fmt/format.h>

#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/error.h"
#include "dfcl/data/study_keys.h"
#include "dfcl/io/tables/table_summary_reader.h"
#include "dfcl/model/model_file.h"
#include "dfcl/report/files/model_report.h"
#include "dfcl/report/files/table_report.h"

namespace dfcl::cli {
namespace {

struct InfoFlags {
  std::string file;
  bool study_keys = false;
};

int run_info(const InfoFlags& flags, bool as_json, core::RunContext& context) {
  if (flags.study_keys) {
    fmt::print("{}", data::study_reference());
    return 0;
  }
  if (flags.file.empty()) {
    throw core::Error({.kind = core::ErrorKind::usage, .what = "no file to look at", .hint = "dfcl info FILE"});
  }
  if (io::is_safetensors(flags.file)) {
    const model::Model model = model::read_model(flags.file);
    fmt::print("{}", as_json ? report::model_json(model) : report::model_text(model, flags.file));
    return 0;
  }
  const data::TableSummary summary = io::summarize_table(flags.file, context);
  fmt::print("{}", as_json ? report::table_json(summary) : report::table_text(summary, flags.file));
  return 0;
}

}  // namespace

void add_info(Session& session) {
  const auto flags = std::make_shared<InfoFlags>();
  CLI::App& verb = session.add_verb(
      "info",
      "what a file is: rows, columns, types, ranges, and how it was made\n"
      "A trial, truth, prediction or plan: csv, csv.gz, parquet or arrow; a glob or a folder counts as one table. Or a "
      "model.",
      "dfcl simulate --preset criteo --rows 5000 --seed 1 -o trial.parquet\ndfcl info trial.parquet",
      [flags, &session](core::RunContext& context) { return run_info(*flags, session.json(), context); });
  verb.add_option("FILE", flags->file, "the file to look at");
  verb.add_flag("--study-keys", flags->study_keys, "print every key of a study file instead, as Markdown");
}

}  // namespace dfcl::cli
