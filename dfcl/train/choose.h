// SPDX-License-Identifier: Apache-2.0
//
// `--method auto`: which method decides best on this trial? Every candidate is trained on four fifths of the training
// units and judged on the fifth it has not seen, five times over, by net value at common prices (eq. 20). Two-stage
// learning stays unless a candidate's gain exceeds its standard error. Candidates have the baseline, and the alpha,
// that the study asks for; each is one network, also where the model will average several. A method that predicts its
// own training units out of sample is fitted once and judged by that. Time: in each fold one two-stage
// training, and the decision epochs of every candidate, which go on from it; and one fit of each of the others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"
#include "dfcl/learn/learner.h"

namespace dfcl::train {

struct CandidateScore {
  std::string method;
  double alpha = 0.0;           // 0: none
  double gain = 0.0;            // over tsm: net value per unit, in revenue
  double standard_error = 0.0;  // over units
};

struct Choice {
  std::string method;
  double alpha = 0.0;
  std::size_t epochs = 0;              // of the method chosen, as in the contest; 0: its usual number
  std::vector<CandidateScore> scores;  // tsm is not among them
  std::size_t num_folds = 0;           // judged on; fewer than five where time ran out
  std::string sentence;                // what was chosen, by how much, how sure
  std::optional<learn::Fit> fit;       // as it was for the contest, where that is all the method needs
};

// What follows from the figures of all candidates; at least one.
Choice choice_of(std::vector<CandidateScore> scores, std::size_t num_folds);

// seconds_limit: stops after the fold that passes it, counted over all runs that the checkpoint has seen; 0: no limit.
// checkpoint_folder: what each fold found is kept there, so that the same call does no fold again and makes the same
// choice; "": nothing is kept.
Choice choose_method(const data::Trial& trial, const data::Study& study, double seconds_limit,
                     const std::string& checkpoint_folder, core::RunContext& context);

}  // namespace dfcl::train
