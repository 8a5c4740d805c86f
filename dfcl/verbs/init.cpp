// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/init.h"

#include <fmt/format.h>

#include <filesystem>

#include "dfcl/core/error_makers.h"
#include "dfcl/data/study_guess.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tables/table_summary_reader.h"
#include "dfcl/verbs/outputs.h"

namespace dfcl::verbs {
namespace {

namespace fs = std::filesystem;

// The path of the trial as the study file says it: relative to the file's folder where that is possible.
std::string path_from(const std::string& output, const std::string& trial) {
  const fs::path folder = fs::absolute(output).lexically_normal().parent_path();
  const fs::path relative = fs::absolute(trial).lexically_normal().lexically_relative(folder);
  return relative.empty() ? fs::absolute(trial).string() : relative.generic_string();
}

void check_request(const InitRequest& request) {
  require_text("trial", request.trial);
  require_text("output", request.output);
  if (!request.output || request.overwrite || !fs::exists(*request.output)) return;
  throw core::Error({.kind = core::ErrorKind::file,
                     .field = "output",
                     .what = "the study file is there already",
                     .found = fmt::format("'{}'", *request.output),
                     .hint = fmt::format("choose another name, or {} if its corrections may be lost",
                                         core::field_name("overwrite"))});
}

}  // namespace

InitResult init(const InitRequest& request, core::RunContext& context) {
  check_request(request);
  const data::TableSummary summary = io::summarize_table(request.trial, context);
  if (request.output) require_output("output", *request.output, {request.trial});
  data::StudyGuess guess = data::guess_study(summary);
  if (request.output) guess.study.data.trial = path_from(*request.output, request.trial);
  InitResult result{guess.study, io::study_text(guess.study, guess.remarks), summary.rows, summary.columns.size()};
  if (request.output) io::write_text_file(*request.output, result.text);
  return result;
}

}  // namespace dfcl::verbs
