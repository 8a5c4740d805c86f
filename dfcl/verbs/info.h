// SPDX-License-Identifier: Apache-2.0
//
// What a file or this machine is: what `dfcl info` does, for every caller. Time: one pass over a table; memory: a
// batch, or the model.
#pragma once

#include <string>
#include <variant>

#include "dfcl/core/run_context.h"
#include "dfcl/data/table_summary.h"
#include "dfcl/model/model.h"
#include "dfcl/train/machine.h"

namespace dfcl::verbs {

struct InfoRequest {
  std::string file;         // path of a model or a table; a glob or a folder counts as one table
  bool study_keys = false;  // every key of a study file instead
  bool machine = false;     // this machine instead
};

// A model, a table, the page of study keys (Markdown), or this machine.
using InfoResult = std::variant<model::Model, data::TableSummary, std::string, train::Machine>;

InfoResult info(const InfoRequest& request, core::RunContext& context);

}  // namespace dfcl::verbs
