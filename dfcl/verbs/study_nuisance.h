// SPDX-License-Identifier: Apache-2.0
//
// The nuisance of the doubly robust estimator (m of eq. 16): the study's own. One boosted model, fitted and calibrated
// on the training and validation rows of the study, never on rows that are evaluated; where these are training rows, a
// five-fold cross-fit by cluster over them. It follows from the study and its data alone: neither the models nor their
// order nor --seed nor the order of the rows changes it. Kept beside the study file, as a model whose options say what
// it was fitted to; one that does not fit, or cannot be read, is fitted anew, and a folder that cannot be written to is
// no error. Time: at most kNuisanceTrees trees of each outcome, in all as long as three such fits, or five for a
// cross-fit. Memory: that of `dfcl train`, and while it is fitted one more copy of the trial. Internal to verbs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "dfcl/core/run_context.h"
#include "dfcl/evaluate/estimators/join.h"
#include "dfcl/verbs/trial_predictions.h"

namespace dfcl::verbs {

inline constexpr std::int64_t kNuisanceTrees = 200;

struct StudyNuisance {
  evaluate::JoinedPrediction prediction;
  std::string name;         // in words
  std::string fingerprint;  // of the model; "" where there is none
};

// Told what was done in one line: "fitted the nuisance to 7,000 rows in 0.8 s". May be empty.
using OnNote = std::function<void(const std::string&)>;

StudyNuisance study_nuisance(const JudgedTrial& judged, Rows split, const OnNote& on_note, core::RunContext& context);

// The model alone, fitted to training and validation rows, for test rows that are elsewhere. Null: there is too little
// to fit it to.
std::shared_ptr<const model::Model> study_nuisance_model(const JudgedTrial& judged, const OnNote& on_note,
                                                         core::RunContext& context);
inline constexpr const char* kNuisanceName = "boosted trees fitted and calibrated on the training and validation rows";

// Where the nuisance of a study file is kept: study.toml -> .study.toml.nuisance.safetensors beside it.
std::string nuisance_path(const std::string& study_file);

}  // namespace dfcl::verbs
