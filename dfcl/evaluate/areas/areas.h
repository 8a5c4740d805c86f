// SPDX-License-Identifier: Apache-2.0
//
// The areas of one model, for each treated arm against control: AUCC as published and exact, Qini and AUUC, with
// intervals from the shared resamples where the totals they divide by are away from zero (eq. 18). Internal to the
// room.
#pragma once

#include <string>
#include <vector>

#include "dfcl/evaluate/areas/aucc.h"
#include "dfcl/evaluate/curves/setting.h"

namespace dfcl::evaluate {

// A total this many deviations from zero or more is away from it.
inline constexpr double kAwayFromZero = 3.0;

struct ArmAreas {
  std::size_t arm = 0;
  Aucc aucc;
  std::vector<RankedPoint> qini_curve;
  std::vector<RankedPoint> cost_curve;
  double qini = 0.0;          // area above random
  double perfect_qini = 0.0;  // that of the best ranking
  double auuc = 0.0;
  // In the resamples; empty without them.
  Series published;
  Series area;
  Series unnormalised_area;
  Series qini_series;
  Series auuc_series;
  bool totals_away_from_zero = false;
  std::string note;
};

// One entry a treated arm.
std::vector<ArmAreas> areas_of(const Setting& setting, const JudgedModel& model);

AuccFigures aucc_figures(const Setting& setting, const ArmAreas& areas);
QiniFigures qini_figures(const Setting& setting, const ArmAreas& areas);

}  // namespace dfcl::evaluate
