// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/init.h"

#include <fmt/format.h>

#include "dfcl/check/roles/propose_study.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tables/memory_table.h"
#include "dfcl/io/tables/table_sample_reader.h"
#include "dfcl/io/tables/table_summary_reader.h"
#include "dfcl/verbs/outputs.h"

namespace dfcl::verbs {
namespace {

void check_request(const InitRequest& request) {
  require_text("trial", request.trial);
  require_text("output", request.output);
  require_text("arm", request.arm);
  require_text("control", request.control);
  require_text("revenue", request.revenue);
  require_text("cost", request.cost);
}

}  // namespace

InitResult init(const InitRequest& request, core::RunContext& context) {
  check_request(request);
  if (request.output) require_output("output", *request.output, {request.trial}, context);
  const data::TableSummary summary = io::summarize_table(request.trial, context);
  check::StudyProposal proposal = check::propose_study(summary, io::sample_table(request.trial, summary, context),
                                                       {request.arm, request.control, request.revenue, request.cost});
  const bool is_file = !io::is_memory_table(request.trial);
  if (request.output && is_file) proposal.study.data.trial = path_from(*request.output, request.trial);
  InitResult result{proposal.study, io::study_text(proposal.study, proposal.remarks), summary.rows,
                    summary.columns.size(), proposal.unsure};
  if (request.output) io::write_text_file(*request.output, result.text);
  return result;
}

}  // namespace dfcl::verbs
