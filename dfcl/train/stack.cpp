// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/hash.h"
#include "dfcl/train/checkpoint.h"
#include "dfcl/train/device.h"
#include "dfcl/train/run_key.h"
#include "dfcl/train/stack_weights.h"
#include "dfcl/train/weigh_members.h"

namespace dfcl::train {
namespace {

constexpr double kShareForFolds = 2.0 / 3.0;  // of the time; fits on all units take half of what three folds do
constexpr const char* kTask = "fitting the stack";
constexpr const char* kTimeIsUp = "the time was up";
// A list with a one for each member that time left out, kept so that the run can go on to the same end.
constexpr const char* kLeftOut = "left-out";

std::uint64_t stack_key(const StackRequest& request, const std::vector<const Method*>& members,
                        const core::RunContext& context) {
  std::uint64_t key = core::hash_text("stack");
  for (const Method* method : members) {
    const Settings settings =
        with_device(fold_settings(request.study, *method, request.prepared.train_rows.size(), context.seed), context);
    key = core::combine_hashes(key, run_key(request.trial, request.study, settings));
  }
  return key;
}

// What has been spent on fits, in this run and, by the checkpoint, in those before.
class Clock {
 public:
  explicit Clock(double seconds_limit) : limit_(seconds_limit) {}
  void begin() { start_ = std::chrono::steady_clock::now(); }
  void add(double seconds) { spent_ += seconds; }
  bool is_over() const {
    const double running = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    return limit_ > 0.0 && spent_ + running > limit_;
  }

 private:
  double limit_;
  double spent_ = 0.0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// One predictor that stands for all, where they can be joined; else the list as it is. The fits themselves are left
// alone: another member may have taken one of them.
std::vector<SharedPredictor> joined_copies(const std::vector<SharedPredictor>& predictors,
                                           const learn::Schema& schema) {
  if (predictors.size() < 2) return predictors;
  std::unique_ptr<learn::Predictor> all = copy_of(*predictors.front(), schema);
  for (std::size_t i = 1; i < predictors.size(); ++i) {
    if (!all->join(*predictors[i])) return predictors;
  }
  return {std::shared_ptr<const learn::Predictor>(std::move(all))};
}

class StackFit {
 public:
  StackFit(const StackRequest& request, core::RunContext& context)
      : request_(request),
        context_(context),
        wanted_(stack_members(request.study)),
        checkpoint_(request.checkpoint_folder, stack_key(request, wanted_, context)),
        fits_(request.trial, request.study, request.prepared, request.units, checkpoint_, context),
        clock_(kShareForFolds * request.seconds_limit) {}

  StackResult run() {
    const std::vector<bool> left_out = choose_members();
    fit_members(left_out);
    return weighed();
  }

 private:
  // Those that the trial cannot have are left out, and those that time left out of an earlier run.
  std::vector<bool> choose_members() {
    std::vector<double> kept;
    const bool was_cut = checkpoint_.load(kLeftOut, kept);
    if (was_cut && kept.size() != wanted_.size())
      throw core::Error({.kind = core::ErrorKind::file, .what = "not the stack of this run", .where = kLeftOut});
    std::vector<bool> left_out(wanted_.size());
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      std::string why = fits_.why_not(*wanted_[i]);
      if (why.empty() && was_cut && kept[i] != 0.0) why = kTimeIsUp;
      left_out[i] = !why.empty();
      if (left_out[i])
        leave_out(*wanted_[i], why);
      else
        num_fits_ += kFolds;
    }
    if (num_fits_ == 0) throw core::field_error("method.members", "the trial can have none of them", members_text());
    if (was_cut) clock_ = Clock(0.0);  // what is left is to be finished
    return left_out;
  }

  void leave_out(const Method& method, const std::string& why) {
    facts_.left_out.push_back({method.name, why});
    context_.warn(fmt::format("{} is not in the stack: {}", method.name, why));
  }

  void fit_members(const std::vector<bool>& left_out) {
    std::vector<const Method*> chosen;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (!left_out[i]) chosen.push_back(wanted_[i]);
    }
    // Where time may leave members out, they come one after the other.
    if (request_.seconds_limit <= 0.0) fits_.fit_ahead(chosen, false, hooks(false));
    std::vector<double> cut(wanted_.size());
    bool any_cut = false;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (left_out[i]) {
        cut[i] =
            std::any_of(facts_.left_out.begin(), facts_.left_out.end(),
                        [&](const auto& entry) { return entry.method == wanted_[i]->name && entry.why == kTimeIsUp; })
                ? 1.0
                : 0.0;
        continue;
      }
      try {
        clock_.begin();
        members_.push_back(fits_.fit(*wanted_[i], hooks(!members_.empty())));
        clock_.add(members_.back().seconds);
      } catch (const TimeIsUp&) {
        leave_out(*wanted_[i], kTimeIsUp);
        cut[i] = 1.0;
        any_cut = true;
      }
    }
    fits_.forget_nuisance();
    if (any_cut) checkpoint_.save(kLeftOut, cut);
  }

  FoldFits::Hooks hooks(bool may_be_cut) {
    FoldFits::Hooks hooks;
    hooks.on_epoch = [this](const learn::EpochRecord& record) {
      if (request_.on_epoch) request_.on_epoch(record);
      context_.detail(fmt::format("loss {:.4g}", record.prediction_loss));
    };
    hooks.on_fit = [this] { context_.progress(kTask, ++fits_done_, num_fits_, "fits"); };
    if (may_be_cut) hooks.is_time_up = [this] { return clock_.is_over(); };
    return hooks;
  }

  StackResult weighed() {
    std::vector<MemberPredictions> members;
    for (const FoldedMethod& member : members_) members.push_back({member.method->name, &member.unseen});
    WeighedMembers found = weigh_members(request_.trial, request_.prepared, request_.units, request_.outcomes, members,
                                         is_stack_calibrated(request_.study), context_);
    found.facts.left_out = std::move(facts_.left_out);
    facts_ = std::move(found.facts);
    for (std::size_t i = 0; i < members_.size(); ++i) facts_.members[i].seconds = members_[i].seconds;
    StackResult result;
    result.unseen = std::move(found.unseen);
    result.mean_effect = std::move(found.mean_effect);
    refit(found.weights);
    take_predictors(found.weights, result);
    result.facts = std::move(facts_);
    return result;
  }

  double share_of(std::span<const double> weights, std::size_t member) const {
    if (weights.back() < 1.0) return weights[member];
    return member == 0 ? 1.0 : 0.0;  // only means: their base is the first member's
  }

  // Members that have weight, on all training units (docs/decisions/0063).
  void refit(std::span<const double> weights) {
    const auto is_refitted = [&](std::size_t i) { return share_of(weights, i) > 0.0; };
    std::vector<const Method*> refitted;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (is_refitted(i)) refitted.push_back(members_[i].method);
    }
    num_fits_ += refitted.size();
    fits_.fit_ahead(refitted, true, hooks(false));
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (!is_refitted(i)) continue;
      FinishedFit fit = fits_.fit_all(*members_[i].method, hooks(false));
      members_[i].predictors = std::move(fit.predictors);
      members_[i].record = std::move(fit.record);
      facts_.members[i].seconds += fit.seconds;
    }
    context_.finished(kTask);
  }

  // A member's weight is shared by its fits, which run as one where they can; a fit that serves two members is kept
  // once.
  void take_predictors(std::span<const double> weights, StackResult& result) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      FoldedMethod& member = members_[i];
      result.members.push_back(member.method);
      const double weight = share_of(weights, i);
      if (weight == 0.0) continue;
      for (learn::EpochRecord& record : member.record) result.record.push_back(std::move(record));
      const learn::Schema schema{request_.trial.arms, request_.trial.features.columns};
      const std::vector<SharedPredictor> list = joined_copies(member.predictors, schema);
      for (const SharedPredictor& predictor : list)
        result.predictors.push_back({predictor, weight / static_cast<double>(list.size())});
    }
  }

  std::string members_text() const {
    std::string text;
    for (const Method* method : wanted_) text += (text.empty() ? "" : ", ") + std::string(method->name);
    return text;
  }

  const StackRequest& request_;
  core::RunContext& context_;
  std::vector<const Method*> wanted_;
  Checkpoint checkpoint_;
  FoldFits fits_;
  Clock clock_;
  std::vector<FoldedMethod> members_;
  model::Stack facts_;
  std::size_t num_fits_ = 0;
  std::size_t fits_done_ = 0;
};

}  // namespace

std::vector<const Method*> stack_members(const data::Study& study) {
  std::vector<const Method*> members;
  if (study.method.members.empty()) {
    for (const Method& method : all_methods()) {
      if (method.stack_place > 0) members.push_back(&method);
    }
    std::stable_sort(members.begin(), members.end(),
                     [](const Method* a, const Method* b) { return a->stack_place < b->stack_place; });
    return members;
  }
  for (const std::string& name : study.method.members) {
    const Method& method = find_method(name, "method.members");
    if (method.learns_efficiencies())
      throw core::field_error("method.members", fmt::format("{} learns an index, which no stack can mix", name), name,
                              "methods that predict outcomes");
    if (std::find(members.begin(), members.end(), &method) != members.end())
      throw core::field_error("method.members", "a method that is named twice", name);
    members.push_back(&method);
  }
  if (members.size() + 1 > kMostStackMembers)
    throw core::field_error("method.members", "too many", fmt::format("{}", members.size()),
                            fmt::format("at most {}", kMostStackMembers - 1));
  return members;
}

bool is_stack_calibrated(const data::Study& study) {
  return study.method.calibrate.value_or(!study.method.as_published);
}

StackResult fit_stack(const StackRequest& request, core::RunContext& context) {
  return StackFit(request, context).run();
}

}  // namespace dfcl::train
