// SPDX-License-Identifier: Apache-2.0
//
// The table of methods: for each its learner, its losses, its schedule, what it needs of a trial and which settings
// matter to it. A new method is a row here; a new decision loss its file in dfcl/loss and a row; a new learner its
// room, a row here and one in dfcl/model/learners.cpp. Nothing else asks which method it is.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "dfcl/data/study.h"
#include "dfcl/learn/learner.h"
#include "dfcl/loss/efficiency.h"
#include "dfcl/loss/loss.h"

namespace dfcl::train {

using LossPointer = std::unique_ptr<const loss::Loss<float>>;

struct Method {
  const char* name;
  const char* title;  // what people call it; its code, the name, stands beside it
  const char* summary;
  // Which settings of a study matter to it, words with blanks between: network, ensemble, decision (alpha, baseline,
  // warm_epochs, multipliers), temperature, window, forest, boost, concave; start: training can start from a model;
  // out-of-sample: training yields predictions of the training units by parts that did not see them;
  // standard-errors: its models know how uncertain their effects are.
  const char* traits;

  learn::MakeLearner learner = nullptr;
  // The learner whose cross-fitted predictors are the base of the learner above, where it needs one.
  learn::MakeLearner base = nullptr;
  // The learner whose cross-fitted predictions are the nuisance of a doubly robust decision loss (eq. 5b); null: the
  // learner above.
  learn::MakeLearner nuisance = nullptr;
  // Settings of the learner's own, checked before any training; may be null.
  void (*check_settings)(const data::Study& study, std::size_t num_training_units, std::size_t num_arms) = nullptr;

  // A loss that joins the prediction loss after a warm start: two fits. Null: prediction only.
  LossPointer (*decision)(const loss::DecisionOptions& options) = nullptr;
  // A loss of efficiencies beside the prediction loss of cost; predicted revenue is an index then.
  LossPointer (*scores)(std::size_t num_arms, double cost_scale) = nullptr;
  loss::RevenueForm revenue_form = loss::RevenueForm::outcome;

  bool two_arms_only = false;
  bool ordered_arms_only = false;         // two arms are always ordered
  bool monotone = false;                  // eq. 15 on both outcomes
  bool whole_batch_as_published = false;  // the published loss is for all units at once

  // Temperature of PL and MER, window of IFD: in units of the typical margin between the best two scores, or, where not
  // relative and as published, in scaled units.
  double temperature = 0.0;
  bool relative = true;
  double published_temperature = 0.0;
  double fixed_window = 0.0;  // of losses whose window is not the setting above; 0: it is

  // Its place among the members of the stack that is `auto`, from 1; 0: none where the study does not name it.
  int stack_place = 0;

  bool uses(std::string_view trait) const;
  bool decides() const { return decision != nullptr; }
  bool learns_efficiencies() const { return scores != nullptr; }
  // Its setting is a window, not a temperature.
  bool has_window() const { return uses("window"); }
};

// Every method that `train --method` knows, in the order they are listed to users. The first is two-stage learning,
// which the others are compared with.
std::span<const Method> all_methods();
inline const Method& two_stage_method() { return all_methods().front(); }

// "boosted trees (tsm-boost)"; a name that is no method's stands for itself.
std::string method_words(const std::string& name);

// Throws Error of kind usage with "did you mean".
const Method& find_method(const std::string& name, const char* field = "method.name");

}  // namespace dfcl::train
