// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/boost_learner.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "dfcl/boost/bagged_outcome.h"
#include "dfcl/boost/boost_predictor.h"
#include "dfcl/core/hash.h"
#include "dfcl/learn/enough.h"
#include "dfcl/learn/record_json.h"

namespace dfcl::boost {
namespace {

constexpr double kValidationShare = 0.1;  // of the training units: enough to stop by
constexpr double kHeldOutShare = 0.15;
constexpr std::size_t kRecordRounds = 25;

// The units of a fit: those that train, then those that validate.
class FitUnits {
 public:
  FitUnits(const learn::TrainingSet& set, const std::vector<trees::FeatureBins>& bins, core::RunContext& context)
      : set_(set),
        stops_by_validation_(static_cast<double>(set.validation_rows.size()) >=
                             kValidationShare * static_cast<double>(set.rows.size())),
        rows_(chosen_rows()),
        binned_(bins, set.features->values.view(), rows_, set.arm, set.num_arms(), context) {
    for (const std::uint32_t row : rows_) {
      if (!set.cluster.empty()) cluster_.push_back(set.cluster[row]);
      arm_.push_back(set.arm[row]);
      revenue_.push_back(set.scaled_revenue[row]);
      cost_.push_back(set.scaled_cost[row]);
    }
    find_weights();
  }

  const BinnedUnits& binned() const { return binned_; }

  BagData bag_data(bool is_cost, std::size_t bag, std::uint64_t seed) const {
    const learn::OutcomeFacts& facts = is_cost ? set_.facts.cost : set_.facts.revenue;
    BagData data{.kind = facts.kind,
                 .observed = is_cost ? cost_ : revenue_,
                 .arm = arm_,
                 .num_arms = set_.num_arms(),
                 .arms_ordered = set_.arms->ordered,
                 .rises_with_arm = facts.arm_shape != learn::ArmShape::plain,
                 .starts_at_arms = is_cost,
                 .row = rows_,
                 .cluster = cluster_,
                 .seed = core::combine_hashes(seed, 2 * bag + (is_cost ? 1 : 0))};
    const std::uint64_t held_key = core::combine_hashes(seed, core::hash_text("held out") + bag);
    for (std::size_t unit = 0; unit < rows_.size(); ++unit) {
      float weight = weight_[unit];
      if (facts.control_is_free && arm_[unit] == facts.control)
        weight = 0.0f;  // its prediction is 0 whatever is learned
      const bool held = is_held_out(unit, held_key);
      data.weight.push_back(held ? 0.0f : weight);
      if (held && weight > 0.0f) {
        data.held_out.push_back(static_cast<std::uint32_t>(unit));
        data.held_weight.push_back(weight);
      }
    }
    return data;
  }

 private:
  std::vector<std::uint32_t> chosen_rows() const {
    std::vector<std::uint32_t> rows(set_.rows.begin(), set_.rows.end());
    if (stops_by_validation_) rows.insert(rows.end(), set_.validation_rows.begin(), set_.validation_rows.end());
    return rows;
  }
  // Sample weights, and within an arm the inverse of given propensities. Arms count by their units: the arm is a
  // feature, so a rare one needs no more weight, which would only be noise for what all arms share (decision 114).
  void find_weights() {
    std::vector<double> samples(set_.num_arms()), weights(set_.num_arms());
    const auto sample = [&](std::size_t unit) { return set_.sample.empty() ? 1.0f : set_.sample[rows_[unit]]; };
    for (std::size_t unit = 0; unit < rows_.size(); ++unit) {
      samples[arm_[unit]] += static_cast<double>(sample(unit));
      weights[arm_[unit]] += static_cast<double>(set_.weight[rows_[unit]]);
    }
    for (std::size_t unit = 0; unit < rows_.size(); ++unit) {
      const double factor = set_.has_propensities ? samples[arm_[unit]] / weights[arm_[unit]] : 0.0;
      weight_.push_back(set_.has_propensities
                            ? static_cast<float>(factor * static_cast<double>(set_.weight[rows_[unit]]))
                            : sample(unit));
    }
  }
  bool is_held_out(std::size_t unit, std::uint64_t key) const {
    if (stops_by_validation_) return unit >= set_.rows.size();
    const std::uint64_t own = cluster_.empty() ? rows_[unit] : cluster_[unit];
    return core::hash_fraction(core::combine_hashes(key, own)) < kHeldOutShare;
  }

  const learn::TrainingSet& set_;
  bool stops_by_validation_;
  std::vector<std::uint32_t> rows_;
  BinnedUnits binned_;
  std::vector<std::uint32_t> cluster_;  // empty: each unit its own
  std::vector<std::uint8_t> arm_;
  std::vector<float> revenue_, cost_, weight_;
};

// Both outcomes, grown round by round, side by side while there are threads for all bags.
class Training {
 public:
  Training(const FitUnits& units, const BoostOptions& options, bool learns_cost, std::uint64_t seed,
           core::RunContext& context)
      : num_trees_(options.trees) {
    for (const bool is_cost : {false, true}) {
      if (is_cost && !learns_cost) continue;
      std::vector<BagData> data;
      for (std::size_t bag = 0; bag < options.bags; ++bag) data.push_back(units.bag_data(is_cost, bag, seed));
      outcomes_.emplace_back(units.binned(), std::move(data), options, context);
    }
  }

  std::vector<learn::EpochRecord> run(const learn::Stage& stage, core::RunContext& context) {
    std::vector<learn::EpochRecord> record;
    for (std::size_t round = 1; !finished(); ++round) {
      context.check_cancelled();
      grow(context);
      context.progress("growing trees", round, num_trees_, "trees");
      if (round % kRecordRounds != 0 && !finished()) continue;
      record.push_back(record_of(round, stage.member, context));
      if (!learn::wants_more(stage.on_epoch, record.back())) break;
    }
    context.finished("growing trees");
    return record;
  }

  std::vector<Bag> revenue() const { return outcomes_[0].kept(); }
  std::vector<Bag> cost() const { return outcomes_.size() > 1 ? outcomes_[1].kept() : std::vector<Bag>(); }

  // Shares of the features in the fall of the losses by splits that depend on the arm; 0 where none does.
  std::vector<float> importance(std::size_t num_features) const {
    std::vector<double> gains(num_features);
    for (const BaggedOutcome& outcome : outcomes_) {
      const std::vector<double> own = outcome.arm_gains();
      for (std::size_t feature = 0; feature < num_features; ++feature) gains[feature] += own[feature];
    }
    double sum = 0.0;
    for (const double gain : gains) sum += gain;
    std::vector<float> shares;
    for (const double gain : gains) shares.push_back(static_cast<float>(sum > 0.0 ? gain / sum : 0.0));
    return shares;
  }

 private:
  bool finished() const {
    return std::all_of(outcomes_.begin(), outcomes_.end(),
                       [](const BaggedOutcome& outcome) { return outcome.finished(); });
  }

  void grow(core::RunContext& context) {
    struct Turn {
      BoostedBag* bag;
      std::size_t outcome;
      bool grown = false;
    };
    std::vector<Turn> turns;
    for (std::size_t outcome = 0; outcome < outcomes_.size(); ++outcome) {
      if (outcomes_[outcome].finished()) continue;
      for (BoostedBag& bag : outcomes_[outcome].bags()) turns.push_back({&bag, outcome});
    }
    if (turns.size() < static_cast<std::size_t>(context.pool.threads())) {
      for (Turn& turn : turns) turn.grown = turn.bag->grow(true, context);
    } else {
      context.pool.run(turns.size(), [&](std::size_t i) { turns[i].grown = turns[i].bag->grow(false, context); });
    }
    for (std::size_t outcome = 0; outcome < outcomes_.size(); ++outcome) {
      outcomes_[outcome].end_round(std::any_of(turns.begin(), turns.end(),
                                               [&](const Turn& turn) { return turn.outcome == outcome && turn.grown; }),
                                   context);
    }
  }

  learn::EpochRecord record_of(std::size_t round, std::size_t member, core::RunContext& context) const {
    learn::EpochRecord record;
    record.member = member;
    record.epoch = round;
    double validation = 0.0;
    bool held_out = true;
    for (const BaggedOutcome& outcome : outcomes_) {
      record.prediction_loss += outcome.training_loss(context);
      validation += outcome.held_out_loss();
      held_out = held_out && outcome.has_held_out();
    }
    if (held_out) record.validation_loss = validation;
    return record;
  }

  std::size_t num_trees_;
  std::vector<BaggedOutcome> outcomes_;  // revenue, and cost where it is learned
};

// A finished fit, kept so that a run that is taken up again does not grow its trees anew.
io::TensorFile finished_fit(const learn::Fit& fit) {
  io::TensorFile file;
  const learn::PartWriter part(file, "");
  fit.predictor->save(part);
  part.text("record", learn::record_list(fit.record));
  return file;
}
learn::Fit fit_of(const io::TensorFile& file, const learn::TrainingSet& set, const std::string& where) {
  const learn::Schema schema = set.schema();
  const learn::PartReader part(file, "", where, schema, nullptr);
  learn::Fit fit;
  fit.predictor = load_boost(part);
  fit.predictor->require_fits(schema, where);
  fit.record = learn::parse_record(part.text("record"), where);
  return fit;
}

}  // namespace

std::unique_ptr<learn::Learner> make_boost_learner(const learn::LearnerRequest& request, core::RunContext& context) {
  const learn::TrainingSet& set = request.set;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t unit = 0; unit < set.is_training.size(); ++unit) {
    if (set.is_training[unit] != 0) rows.push_back(unit);
  }
  return std::make_unique<BoostLearner>(
      trees::fit_bins(set.features->columns, set.features->values.view(), rows, trees::kMostBins, context),
      boost_options(request.study, rows.size(), request.seed));
}

std::vector<std::pair<std::string, std::string>> BoostLearner::shown() const {
  const auto number = [](auto value) { return fmt::format("{}", value); };
  return {{"trees", number(options_.trees)},
          {"leaves", number(options_.leaves)},
          {"min_leaf", number(options_.min_leaf)},
          {"boost_learning_rate", number(options_.learning_rate)},
          {"feature_share", number(options_.feature_share)},
          {"row_share", number(options_.row_share)},
          {"bags", number(options_.bags)}};
}

learn::Fit BoostLearner::fit(const learn::TrainingSet& set, const learn::Objective&, const learn::Stage& stage,
                             core::RunContext& context) const {
  if (const std::optional<io::TensorFile> kept = stage.load ? stage.load() : std::nullopt)
    return fit_of(*kept, set, stage.name);
  const FitUnits units(set, bins_, context);
  const std::uint64_t seed = core::combine_hashes(options_.seed, core::hash_text("boost") + stage.member);
  Training training(units, options_, set.learns_cost, seed, context);
  learn::Fit fit;
  fit.record = training.run(stage, context);
  BoostParts parts{.bins = bins_,
                   .facts = set.facts,
                   .scales = set.scales,
                   .revenue = training.revenue(),
                   .cost = training.cost(),
                   .importance = training.importance(bins_.size())};
  fit.predictor = std::make_unique<BoostPredictor>(std::move(parts));
  if (stage.save) stage.save(finished_fit(fit));
  return fit;
}

}  // namespace dfcl::boost
