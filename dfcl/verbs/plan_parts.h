// SPDX-License-Identifier: Apache-2.0
//
// What a plan file and a plan's segments consist of, whoever makes the plan: `allocate` and the served page write the
// same rows and facts, so that `readout` reads both alike.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/allocate/plan_path.h"
#include "dfcl/data/plan.h"
#include "dfcl/data/prediction.h"
#include "dfcl/data/provenance.h"
#include "dfcl/io/predictions/prediction_file.h"
#include "dfcl/io/trial/unit_labels.h"
#include "dfcl/report/plan/plan_report.h"

namespace dfcl::verbs {

// A plan's provenance with what readout needs to know of the predictions: control, objective, currency, unit, prices
// and model. command: the verb that made it.
data::Provenance plan_provenance(const std::string& command, const data::PredictionFacts& facts,
                                 const allocate::Rules& rules);

// The figures of a plan, with the fingerprint of its predictions, as metadata of its file.
std::vector<std::pair<std::string, std::string>> plan_figures(const report::PlanSummary& plan,
                                                              std::uint64_t fingerprint);

// Ids of some units of predictions in memory.
data::Ids planned_ids(const data::Prediction& prediction, const allocate::PlannedUnits& planned);

// Rows of a plan file for some units: id, arm, and predicted revenue and cost of the arm.
data::Plan planned_rows(const std::vector<std::string>& arms, data::Ids ids, const allocate::PlannedUnits& planned);

// Adds the units that follow.
void append_plan(const data::Plan& piece, data::Plan& whole);

// The columns that travel with some units of predictions in memory.
data::ExtraColumns planned_extras(const data::ExtraColumns& all, const allocate::PlannedUnits& planned);

// Segments by labels that were read beside the units and are joined by id. where: names the units in errors.
void join_segments(const io::UnitLabels& labels, const data::Ids& ids, const std::string& where,
                   io::PredictionTable& table);

// Sorts segments by label, so that the order of the rows does not show.
void sort_segments(io::PredictionTable& table);

// What the units of each segment would cost in control.
std::vector<double> segment_control_costs(const io::PredictionTable& table, core::MatrixView<const float> cost,
                                          const allocate::Rules& rules);

}  // namespace dfcl::verbs
