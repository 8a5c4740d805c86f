// SPDX-License-Identifier: Apache-2.0
//
// What a trial can show and how large the next must be, as a screen for people and as a results file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dfcl/data/provenance.h"
#include "dfcl/launch/power.h"
#include "dfcl/report/text/screen.h"

namespace dfcl::report {

struct PowerFigures {
  launch::PlanPair pair;
  launch::PowerLevels levels;
  std::vector<double> gains;   // revenue per unit, to be told from nothing
  bool has_trial = true;       // else only the sd is known
  std::string split = "test";  // the rows that were looked at
  double split_share = 1.0;    // their share of the trial
  std::string name_a = "plan A";
  std::string name_b = "plan B";
  double budget_per_unit = 0.0;                    // 0: none
  std::vector<launch::ArmPower> arms = {};         // against control
  double control_revenue = 0.0;                    // mean per unit, of the rows
  double launch_units = 0.0;                       // of the launch that hold-outs are a share of
  std::vector<launch::HoldoutNeed> holdouts = {};  // for each gain
  std::optional<double> value_per_revenue = {};    // what one unit of revenue is worth, where [value] says it
  std::string title, currency;                     // of the study
  std::string revenue_name = "revenue", cost_name = "cost";
  std::string unit = "unit";
  bool revenue_is_money = true;
};

std::string power_text(const PowerFigures& figures, Length length = Length::full);
std::string power_json(const PowerFigures& figures, const data::Provenance& provenance);

}  // namespace dfcl::report
