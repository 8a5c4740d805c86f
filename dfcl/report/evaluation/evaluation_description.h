// SPDX-License-Identifier: Apache-2.0
//
// The keys of an evaluation: one line a figure. Internal to report.
#pragma once

#include "dfcl/evaluate/evaluation.h"
#include "dfcl/report/evaluation/evaluation_report.h"
#include "dfcl/report/schema/described.h"

namespace dfcl::report {

// Beside the other models: whether it is the one they are compared with.
struct ReportedModel : evaluate::ModelFigures {
  bool is_reference = false;
};

const Described<evaluate::JudgedPlan>& description(Of<evaluate::JudgedPlan>);
const Described<evaluate::CurvePointFigures>& description(Of<evaluate::CurvePointFigures>);
const Described<evaluate::BaselineFigures>& description(Of<evaluate::BaselineFigures>);
const Described<evaluate::BaselineDifferenceFigures>& description(Of<evaluate::BaselineDifferenceFigures>);
const Described<ReportedModel>& description(Of<ReportedModel>);
const Described<evaluate::DifferenceFigures>& description(Of<evaluate::DifferenceFigures>);
const Described<evaluate::AuccDifferenceFigures>& description(Of<evaluate::AuccDifferenceFigures>);
const Described<evaluate::OracleFigures>& description(Of<evaluate::OracleFigures>);
const Described<evaluate::UpliftFigures>& description(Of<evaluate::UpliftFigures>);
const Described<evaluate::SegmentEffects>& description(Of<evaluate::SegmentEffects>);
const Described<evaluate::PolicyTreeFigures>& description(Of<evaluate::PolicyTreeFigures>);
const Described<data::QuestionNode>& description(Of<data::QuestionNode>);

// All between the head and the last key, `how`; comparisons hold the same.
const Described<EvaluationReport>& evaluation_body();
// The whole file.
const Described<EvaluationReport>& description(Of<EvaluationReport>);

}  // namespace dfcl::report
