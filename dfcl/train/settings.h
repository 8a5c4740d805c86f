// SPDX-License-Identifier: Apache-2.0
//
// The settings of a training run, with everything chosen that the study left open. Each default has its reason here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/data/study.h"
#include "dfcl/learn/learner.h"
#include "dfcl/loss/loss.h"
#include "dfcl/train/methods.h"

namespace dfcl::train {

struct Settings {
  Method method;
  std::uint64_t seed = 0;
  // Networks learn in steps, not in epochs: batches grow with the training units (a 128th of them, 256 to 4,096), so
  // that an epoch is about 128 steps on any trial of usual size.
  learn::Steps steps;
  // In all. A two-stage network gets about 8,000 steps, within 10 to 60 epochs; a decision method goes on from there
  // for half as many. On simulated trials a two-stage model got 58 % of the oracle's increment after 20 epochs with a
  // weight decay of 0.01, 64 % with 0.3, and 70 % after 40, 60 or 80 epochs with 0.2 or 0.3 (60,000 units, smooth); at
  // 400,000 units 30 epochs did as well as 60 (82.8 and 82.2 %), and a decay of 0.05 less well (81.4 and, for
  // trees, 61.6 against 65.3 %). One trial each: looked at, not tuned with care.
  std::size_t epochs = 0;
  std::size_t warm_epochs = 0;       // of them, on the prediction loss alone, before a decision loss joins
  std::size_t nuisance_epochs = 0;   // of the networks of eq. 5b
  double decision_rate_share = 1.0;  // of the learning rate, in the second fit
  double alpha = 1.0;                // weight of the prediction loss once the decision loss has joined
  double temperature = 1.0;          // or window; see Method
  bool relative_temperature = true;
  loss::Baseline baseline = loss::Baseline::mean;
  // Of the decision loss: only where what is known about costs anchors them. That they are not negative is not enough:
  // on 200,000 rows of Criteo's trial and six networks each, predicted visits were worse in all (log loss 0.106 to
  // 0.108 against 0.1057) and the AUCC in four.
  bool gradient_to_cost = true;
  std::vector<double>
      multipliers;  // fixed, in the study's currencies; empty: from the budgets, at the end of the warm start
  std::size_t ensemble = 1;
  bool as_published = false;
  bool table = false;      // networks are for tables ([network] kind)
  std::string scaling;     // of numbers, as the study says it; "": the usual one
  std::string device;      // of networks, where it is not the processor
  std::string start_from;  // fingerprint of the model that training starts from; "": none

  bool needs_nuisance() const { return method.decides() && baseline == loss::Baseline::doubly_robust; }
  // What changes the result, in the order to show it.
  std::vector<std::pair<std::string, std::string>> shown() const;
};

// The study has been checked (data/study_keys.h). Throws Error of kind usage where its values do not go together, with
// the key, the value and the bound. start_from: see Settings.
Settings settings_of(const data::Study& study, const Method& method, std::size_t num_training_units, std::uint64_t seed,
                     const std::string& start_from = "");

}  // namespace dfcl::train
