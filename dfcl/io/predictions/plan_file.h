// SPDX-License-Identifier: Apache-2.0
//
// Plan files: `id`, `arm`, `revenue` and `cost` (predicted for the chosen arm), with roles also `role`, `propensity`,
// `control_revenue` and `control_cost`, and whatever travels with it; the figures of the plan are the file's metadata.
// Written 65,536 units at a time, however they come, so that equal plans are equal bytes; whole or not at all.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/batch.h"
#include "dfcl/data/plan.h"
#include "dfcl/data/provenance.h"

namespace dfcl::io {

class TableWriter;

class PlanWriter {
 public:
  // first: a plan, or the first piece of one: its type of ids, which must hold those of every piece, whether there are
  // roles, and its extra columns are those of all.
  PlanWriter(const std::string& path, const data::Plan& first, const data::Provenance& provenance);
  ~PlanWriter();

  void write(const data::Plan& piece);
  // figures: budget, spend, value, ...; kept in the metadata of a Parquet file.
  void commit(const std::vector<std::pair<std::string, std::string>>& figures);

 private:
  data::Batch empty_batch() const;
  void append(const data::Plan& piece, std::size_t unit);
  void flush();

  std::string path_;
  data::ColumnType id_type_;
  bool with_roles_;
  std::vector<data::ColumnInfo> extra_;
  data::Batch pending_;
  std::unique_ptr<TableWriter> writer_;
};

// A plan with what its file says beside it.
struct PlanFile {
  data::Plan plan;                // control_revenue and control_cost are empty where the file lacks one of them
  data::Provenance provenance;    // of a Parquet or Arrow file of ours; its options hold the figures too
  std::vector<std::string> time;  // per unit; empty without a column `time`

  // The option or figure of this name; "" where there is none.
  std::string option(const std::string& name) const;
};

// Any table with the columns of a plan; role, propensity and the rest may be missing. Arms are labelled in the order in
// which they appear. Throws Error of kind data, with the id of the unit, for an empty id or arm, a number that is not
// finite, an unknown role, a propensity outside (0, 1], an id that stands twice.
PlanFile read_plan(const std::string& path, core::RunContext& context);

// What happened: one row a unit. Columns `id` and `revenue`; `role`, `arm` (received), `cost`, `time` and `propensity`
// may be there: what is not is empty here, and the plan says it. Throws as read_plan.
struct OutcomeTable {
  data::Ids ids;
  std::vector<data::Role> role;
  std::vector<std::string> arms;  // labels, in the order in which they appear
  std::vector<std::uint8_t> arm;
  std::vector<double> revenue;
  std::vector<double> cost;
  std::vector<std::string> time;                // empty without such a column
  std::vector<double> weight;                   // sample weights, 0 or more; empty where none are asked for
  std::vector<std::vector<double>> guardrails;  // further outcomes, as asked for
};
struct OutcomeColumns {
  std::string weight = {};  // "": none
  std::vector<std::string> guardrails = {};
};
OutcomeTable read_outcomes(const std::string& path, core::RunContext& context, const OutcomeColumns& columns = {});

}  // namespace dfcl::io
