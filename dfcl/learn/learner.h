// SPDX-License-Identifier: Apache-2.0
//
// The seam for learners: something that fits a predictor to a training set by an objective. A learner is made once for
// a trial (its encodings are fitted then) and may fit many times: on other rows (folds), as another member of an
// ensemble, with another objective from where the last fit ended. A new learner is a room with a Learner, a Predictor
// and two functions (make and load), a row in the table of methods and one in the list of learners.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"
#include "dfcl/io/tensors/safetensors.h"
#include "dfcl/learn/epoch_record.h"
#include "dfcl/learn/objective.h"
#include "dfcl/learn/predictor.h"
#include "dfcl/learn/training_set.h"

namespace dfcl::learn {

// How a learner that goes in steps does so; others have no use for it.
struct Steps {
  std::size_t batch = 0;
  double rate = 2e-3;
  double weight_decay = 0.0;
  double clip_norm = 0.0;  // 0: none
  std::uint64_t warmup_steps = 0;
  double final_share = 1.0;  // of the rate, at the last step
};

// One fit: which of several, from where, for how long, and who is told.
struct Stage {
  std::size_t member = 0;            // random numbers follow it
  std::size_t first_epoch = 0;       // epochs of earlier stages; random numbers follow them too
  std::size_t epochs = 0;            // of this stage, for learners that have epochs
  double rate_share = 1.0;           // of the learning rate, for learners that go in steps
  const Predictor* start = nullptr;  // to go on from; must be of the learner's kind
  std::string name = {};             // of what is kept of it, for messages
  // The state that an earlier run kept, if there is one; and where this run keeps its own, after each epoch.
  std::function<std::optional<io::TensorFile>()> load = {};
  std::function<void(io::TensorFile)> save = {};
  std::function<void(const EpochRecord&)> on_epoch = {};
  std::function<void(std::size_t num_rows)> advanced = {};  // so many rows were learned from, here or in an earlier run
  // Scaled predictions of the validation units after an epoch, for figures that only the caller knows.
  std::function<void(const Predicted&, bool is_last, EpochRecord&)> judge = {};
};

struct Fit {
  std::unique_ptr<Predictor> predictor;
  std::vector<EpochRecord> record;
  // Predictions of the training rows, in the study's currency, by parts of the predictor that did not see the row;
  // empty where the learner has none.
  std::optional<Predicted> out_of_sample;
};

class Learner {
 public:
  virtual ~Learner() = default;

  // Throws Error of kind usage or data.
  virtual Fit fit(const TrainingSet& set, const Objective& objective, const Stage& stage,
                  core::RunContext& context) const = 0;

  // Whether so many training units are enough to fit at all.
  virtual bool has_enough(std::size_t) const { return true; }

  // Settings of its own that change the result, in the order to show them.
  virtual std::vector<std::pair<std::string, std::string>> shown() const { return {}; }
};

// What a learner is made from.
struct LearnerRequest {
  const data::Study& study;
  const TrainingSet& set;
  Steps steps;
  std::uint64_t seed = 0;
  // How revenue is to be predicted, which shapes the outputs.
  loss::RevenueForm revenue_form = loss::RevenueForm::outcome;
  double efficiency_cost_scale = 1.0;
  // The predictor that training starts from, with the columns it knew; null: none.
  const Predictor* start = nullptr;
  const std::vector<data::FeatureColumn>* start_columns = nullptr;
};

// The signature of a room's maker of learners. Throws Error of kind usage that names the key.
using MakeLearner = std::unique_ptr<Learner> (*)(const LearnerRequest& request, core::RunContext& context);

}  // namespace dfcl::learn
