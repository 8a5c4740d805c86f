// SPDX-License-Identifier: Apache-2.0
//
// Fits of methods for folds (folds.h), and their predictions of the units they have not seen. What several methods need
// is fitted once: decision methods go on from the fold's own two-stage fit; their nuisance, and the base of a forest,
// come from trees fitted to one fold, which serve both folds without it, and in a fit to all units from the trees
// fitted for the folds. Learners without epochs hold out units of their own to stop by, so that they learn from
// validation units too. With a checkpoint a finished fit is never done again. On a graphics card several fits of
// networks run at the same time, to the same bytes as one after the other; what they tell is told in the order of the
// fits. Time: kFolds fits on two thirds of the units each. Memory: the predictors, 8 bytes per unit and arm for each
// method's predictions, and as much for the nuisance of each fold; on a card, the rows of the fits at a time.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"
#include "dfcl/learn/learner.h"
#include "dfcl/train/checkpoint.h"
#include "dfcl/train/cross_fit.h"
#include "dfcl/train/fit_file.h"
#include "dfcl/train/folds.h"
#include "dfcl/train/preparation.h"

namespace dfcl::train {

using SharedPredictor = std::shared_ptr<const learn::Predictor>;

struct FoldedMethod {
  const Method* method = nullptr;
  std::vector<SharedPredictor> predictors;  // whose mean is the method
  learn::Predicted unseen;                  // held units x arms, in the study's currency, as it was learned
  std::vector<learn::EpochRecord> record;
  double seconds = 0.0;  // over all runs that the checkpoint has seen
};

// Of a fit for a fold; they identify the run.
Settings fold_settings(const data::Study& study, const Method& method, std::size_t num_training_units,
                       std::uint64_t seed);

// Held units by a single method's fit on all training units: these by its out-of-sample predictions, validation units
// by the predictors.
learn::Predicted unseen_of_whole(const data::Trial& trial, const HeldUnits& units,
                                 std::span<const learn::WeightedPredictor> predictors,
                                 const learn::Predicted& out_of_sample, core::RunContext& context);

// Thrown out of a fit whose time is over.
struct TimeIsUp {};

class FoldFits {
 public:
  struct Hooks {
    std::function<void(const learn::EpochRecord&)> on_epoch = {};  // may be empty
    std::function<void()> on_fit = {};                             // one of kFolds is done
    std::function<bool()> is_time_up = {};                         // looked at between epochs and fits; may be empty
  };
  // All must outlive it. prepared: of two-stage learning.
  FoldFits(const data::Trial& trial, const data::Study& study, const Preparation& prepared, const HeldUnits& units,
           const Checkpoint& checkpoint, core::RunContext& context);

  // Why the trial cannot have this method; "" where it can.
  std::string why_not(const Method& method) const;

  // What `fit` needs of these methods, or `fit_all` where of_whole: those that run at the same time on a graphics card,
  // as far as it takes them; elsewhere nothing. Throws TimeIsUp.
  void fit_ahead(std::span<const Method* const> methods, bool of_whole, const Hooks& hooks);
  // Throws TimeIsUp, with nothing kept but checkpoints.
  FoldedMethod fit(const Method& method, const Hooks& hooks);
  // The method on all units, as it goes into a stack's model.
  FinishedFit fit_all(const Method& method, const Hooks& hooks);
  // No further fits for folds: what only they need is let go.
  void forget_nuisance() { nuisance_.clear(); }

 private:
  // Where a fit runs. share: of the time that it takes, where others run beside it.
  struct Lane {
    core::RunContext& context;
    double share = 1.0;
  };
  struct Job {
    const Method* method;
    std::size_t fold;
    bool operator<(const Job& other) const { return std::pair(method, fold) < std::pair(other.method, other.fold); }
  };
  using RunJob = std::function<void(std::size_t index, const Hooks& hooks, const Lane& lane)>;

  const Preparation& prepared_for(const Method& method);
  FillStage fill_for(const std::string& name, const Hooks& hooks) const;
  // Runs jobs, some at the same time (core/side_by_side.h), and tells of their epochs in the order of the jobs.
  void run_jobs(std::size_t count, const Hooks& hooks, const Lane& lane, const RunJob& run) const;
  // From the checkpoint, or done and kept there.
  FinishedFit once(const std::string& name, const Hooks& hooks, const Lane& lane,
                   const std::function<FinishedFit()>& fit) const;
  // A fit that others build on: done once, whoever asks first.
  const FinishedFit& fit_shared(const Method& method, std::size_t fold, const Hooks& hooks);
  // Fits of networks, once what they build on has been prepared: nothing of this object changes.
  FinishedFit fit_network(const Job& job, const Hooks& hooks, const Lane& lane);
  void fit_at_once(std::vector<Job> jobs, const Hooks& hooks);
  // Of the epochs of a fit that ran ahead, when its turn has come.
  void tell(const Job& job, const Hooks& hooks);
  // Of learners that do not go in steps, for which folds are all the same.
  const learn::Learner& tree_learner(learn::MakeLearner make, bool one_bag);
  SharedPredictor fit_of_one_fold(learn::MakeLearner make, std::size_t fold, const Hooks& hooks);
  // Trees for the units that a fold's fit sees, with their places among these units.
  std::vector<UnseenBy> trees_without(learn::MakeLearner make, std::size_t fold, const Hooks& hooks);
  const Nuisance& nuisance_for(const Method& method, std::size_t fold, const Hooks& hooks);
  FinishedFit fit_fold(const Method& method, std::size_t fold, const Hooks& hooks);
  learn::TrainingSet network_set(const Preparation& prepared, std::size_t fold) const;
  FinishedFit fit_stages_of(const Method& method, std::size_t fold, const learn::TrainingSet& set, const Hooks& hooks,
                            const Lane& lane);
  FinishedFit fit_based(const Method& method, std::size_t fold, learn::TrainingSet set, const Hooks& hooks);
  FinishedFit fit_decision(const Method& method, std::size_t fold, learn::TrainingSet set, const Hooks& hooks,
                           const Lane& lane);
  // fold: kFolds means all training units, here and below.
  Settings settings(const Method& method, std::size_t fold) const;

  const data::Trial& trial_;
  const data::Study& study_;
  const Preparation& prepared_;
  std::optional<Preparation> rising_;  // for methods whose predictions rise with the arm
  const HeldUnits& units_;
  const Checkpoint& checkpoint_;
  core::RunContext& context_;
  std::array<FoldRows, kFolds + 1> rows_;  // by fold
  std::map<std::pair<const Method*, std::size_t>, FinishedFit> shared_;
  std::map<std::pair<learn::MakeLearner, bool>, std::unique_ptr<learn::Learner>> tree_learners_;
  std::map<std::pair<learn::MakeLearner, std::size_t>, SharedPredictor> of_one_fold_;
  std::map<std::size_t, Nuisance> nuisance_;
  std::map<Job, FinishedFit> decided_;  // fits of decision methods that ran ahead
  std::map<Job, std::vector<learn::EpochRecord>> untold_;
};

}  // namespace dfcl::train
