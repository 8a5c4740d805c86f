// SPDX-License-Identifier: Apache-2.0
//
// Which columns of a trial's files are read, and as what: the study's roles and globs against the columns there are.
// Internal to io.
#pragma once

#include <arrow/api.h>

#include <cstdint>
#include <string>
#include <vector>

#include "dfcl/data/features.h"
#include "dfcl/data/study.h"
#include "dfcl/io/tables/record_source.h"

namespace dfcl::io {

struct TrialPlan {
  static constexpr int kNone = -1;
  std::vector<WantedColumn> wanted;           // what to read; the numbers below index it
  std::vector<int> feature_columns;           // one for each feature
  std::vector<data::FeatureColumn> features;  // names and kinds; levels are still empty
  std::vector<float> missing_codes;
  int arm = kNone;
  int revenue = kNone;
  int cost = kNone;
  int cost_if = kNone;
  int id = kNone;
  int time = kNone;
  int cluster = kNone;
  int propensity = kNone;
  int weight = kNone;
  int split = kNone;
  std::vector<int> guardrails = {};

  // Ids may come again at another time. Rows of one id then belong together, as rows of one cluster do.
  bool comes_again() const { return cluster == kNone && id != kNone && time != kNone; }
};

// Throws Error of kind data for a column that is not there (with "did you mean") and for features that match nothing;
// of kind usage where roles contradict each other.
TrialPlan plan_trial(const data::Study& study, const arrow::Schema& schema, bool is_text_file, const std::string& path);

// Whether a name matches one of the globs.
bool matches_any(const std::string& name, const std::vector<std::string>& globs);

}  // namespace dfcl::io
