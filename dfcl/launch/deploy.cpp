// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/deploy.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>

#include "dfcl/allocate/allocate.h"
#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/parallel.h"
#include "dfcl/core/random.h"
#include "dfcl/core/version.h"
#include "dfcl/data/budgets.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/launch/group_sums.h"
#include "dfcl/launch/simulated_trial.h"
#include "dfcl/launch/spend_controller.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/train/methods.h"
#include "dfcl/train/train.h"

namespace dfcl::launch {
namespace {

constexpr std::uint32_t kGroupPurpose = core::stream_purpose("deploy group");
constexpr std::size_t kChunkUnits = 4096;
constexpr std::size_t kNumWays = 2;  // with the controller, without

void require(bool good, const char* key, const std::string& found, const char* expected) {
  if (good) return;
  throw core::Error({.kind = core::ErrorKind::usage,
                     .field = fmt::format("deploy.{}", key),
                     .what = "out of range",
                     .found = found,
                     .expected = expected});
}

void validate(const data::Study::Deploy& deploy) {
  const auto number = [](auto value) { return fmt::format("{}", value); };
  require(!deploy.methods.empty() && deploy.methods.size() <= 20, "methods", number(deploy.methods.size()),
          "1 to 20 methods");
  for (const std::string& method : deploy.methods) (void)train::find_method(method, "deploy.methods");
}

// The world on a day, counted from the first day of the trial.
simulate::Simulator world_on(const data::Study::Deploy& deploy, std::uint64_t seed, std::uint64_t day,
                             double cost_scale, double population_shift) {
  return simulate::Simulator({.preset = simulate::Preset::marketing,
                              .response = core::parse_word<simulate::Response>(deploy.response, "deploy.response"),
                              .num_rows = static_cast<std::uint64_t>(deploy.units),
                              .seed = seed,
                              .num_days = 1,
                              .first_day = day,
                              .cost_scale = cost_scale,
                              .population_shift = population_shift});
}

// The random rows among the units first_row + rows[i], with the arms the trial draws.
TrialRows random_rows(const simulate::Simulator& simulator, const FeatureCoder& coder, std::uint64_t first_row,
                      const simulate::UnitBlock& block, std::span<const std::uint32_t> rows) {
  TrialRows result;
  const std::size_t num_rows = block.revenue.rows();
  const std::vector<std::uint8_t> arms = simulator.drawn_arms(first_row, num_rows);
  const simulate::DrawnOutcomes outcomes = simulator.draw_outcomes(first_row, arms, block);
  result.features = core::Matrix<float>(rows.size(), coder.columns().size());
  coder.encode(block, rows, result.features.view());
  for (const std::uint32_t row : rows) {
    result.ids.push_back(static_cast<std::int64_t>(first_row + row) + 1);
    result.arm.push_back(arms[row]);
    result.revenue.push_back(static_cast<float>(outcomes.revenue[row]));
    result.cost.push_back(static_cast<float>(outcomes.cost[row]));
  }
  return result;
}

class Deployment {
 public:
  Deployment(const data::Study& study, const DeployOptions& options, core::RunContext& context)
      : study_(study),
        deploy_(study.deploy),
        options_(options),
        context_(context),
        num_units_(static_cast<std::size_t>(deploy_.units)),
        num_groups_(deploy_.methods.size()),
        group_of_(num_units_) {
    for (std::size_t way = 0; way < kNumWays; ++way) {
      week_sums_.emplace_back(num_units_, num_groups_);
      all_sums_.emplace_back(num_units_, num_groups_);
      controllers_.emplace_back(num_groups_, SpendController(way == 0));
      arms_.emplace_back(num_units_);
    }
    planned_.assign(kNumWays, std::vector<double>(num_groups_));
    budget_.assign(num_groups_, 0.0);
    week_budget_.assign(num_groups_, 0.0);
    const auto tsm = std::find(deploy_.methods.begin(), deploy_.methods.end(), "tsm");
    result_.reference = tsm == deploy_.methods.end() ? 0 : static_cast<std::size_t>(tsm - deploy_.methods.begin());
    result_.methods = deploy_.methods;
    result_.units = num_units_;
    result_.days = static_cast<std::size_t>(deploy_.days);
  }

  DeployResult run() {
    run_trial();
    for (std::size_t day = 0; day < result_.days; ++day) {
      const std::size_t weekday = day % kDaysAWeek;
      if (weekday == 0 && (day == 0 || deploy_.retrain)) train_models(day / kDaysAWeek);
      run_day(day);
      context_.progress("deploying", day + 1, result_.days, "days");
      if (weekday + 1 == kDaysAWeek || day + 1 == result_.days) end_week(day);
    }
    context_.finished("deploying");
    for (std::size_t way = 0; way < kNumWays; ++way) {
      campaign(way).total = describe(all_sums_[way], budget_);
    }
    return std::move(result_);
  }

 private:
  Campaign& campaign(std::size_t way) { return way == 0 ? result_.with_controller : result_.without_controller; }

  // The world changes evenly from the first day of the test to its last.
  double share_of_test(std::size_t day) const {
    return result_.days < 2 ? 1.0 : static_cast<double>(day) / static_cast<double>(result_.days - 1);
  }
  double cost_scale_on(std::size_t day) const { return 1.0 + deploy_.cost_drift * share_of_test(day); }
  double shift_on(std::size_t day) const { return deploy_.population_drift * share_of_test(day); }

  // Random data from before the test. Each day takes other units, as far as there are any.
  void run_trial() {
    const auto days = static_cast<std::size_t>(deploy_.trial_days);
    const auto units = std::min(num_units_, static_cast<std::size_t>(deploy_.trial_units));
    for (std::size_t day = 0; day < days; ++day) {
      const simulate::Simulator world = world_on(deploy_, context_.seed, day, 1.0, 0.0);
      const std::size_t begin = num_units_ >= 2 * units ? (day * units) % (num_units_ - units + 1) : 0;
      if (day == 0) {
        coder_ = std::make_unique<FeatureCoder>(world.feature_columns(),
                                                world.make_units(0, std::min<std::size_t>(num_units_, 20'000)));
        trial_ = empty_trial(world, *coder_);
      }
      std::vector<TrialRows> parts((units + kChunkUnits - 1) / kChunkUnits);
      core::for_each_chunk(context_, units, kChunkUnits, [&](std::size_t first, std::size_t end, std::size_t chunk) {
        const simulate::UnitBlock block = world.make_units(begin + first, end - first);
        std::vector<std::uint32_t> rows(end - first);
        std::iota(rows.begin(), rows.end(), 0u);
        parts[chunk] = random_rows(world, *coder_, begin + first, block, rows);
      });
      for (const TrialRows& part : parts) append_rows(part, trial_);
      context_.progress("trial before the test", day + 1, days, "days");
    }
    context_.finished("trial before the test");
    finish_trial(study_.split, context_, trial_);
    result_.budget_per_unit =
        data::resolve_budgets(study_, trial_).front().total_per_unit(data::arm_costs(trial_).of_control());
  }

  // The name of a trained model among the checkpoints: other data, settings or versions have another.
  std::string model_path(data::Study study, std::size_t week) const {
    study.deploy = {};  // what matters of it is in the rows
    std::uint64_t key = core::combine_hashes(trial_.fingerprint, core::hash_text(io::study_text(study)));
    key = core::combine_hashes(key, core::combine_hashes(context_.seed, core::hash_text(core::version())));
    return (std::filesystem::path(options_.checkpoint_folder) /
            fmt::format("week-{}-{}-{:016x}.safetensors", week + 1, study.method.name, key))
        .string();
  }

  void train_models(std::size_t week) {
    if (week > 0) finish_trial(study_.split, context_, trial_);
    models_.clear();
    training_rows_ = trial_.num_units();
    for (const std::string& method : deploy_.methods) {
      data::Study study = study_;
      study.method.name = method;
      const bool keeps = !options_.checkpoint_folder.empty();
      const std::string path = keeps ? model_path(study, week) : "";
      if (keeps && std::filesystem::exists(path)) {
        models_.push_back(model::read_model(path));
        continue;
      }
      train::TrainOptions train_options;
      train_options.study_text = io::study_text(study);
      models_.push_back(train::train(trial_, study, train_options, context_));
      if (keeps) model::write_model(path, models_.back());
    }
  }

  // Splits the units at random into equal groups; the first few explore. group_of_ is num_groups_ for them.
  void split_units(std::size_t day) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order(num_units_);
    core::for_each_chunk(context_, num_units_, 65'536, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t unit = begin; unit < end; ++unit) {
        core::RandomStream stream(context_.seed, kGroupPurpose, (static_cast<std::uint64_t>(day) << 40) | unit);
        order[unit] = {stream.next_u64(), static_cast<std::uint32_t>(unit)};
      }
    });
    std::sort(order.begin(), order.end());
    const auto explored = static_cast<std::size_t>(deploy_.explore * static_cast<double>(num_units_));
    group_sizes_.assign(num_groups_, 0);
    for (std::size_t place = 0; place < num_units_; ++place) {
      const std::size_t group =
          place < explored ? num_groups_ : (place - explored) * num_groups_ / (num_units_ - explored);
      group_of_[order[place].second] = static_cast<std::uint8_t>(group);
      if (group < num_groups_) ++group_sizes_[group];
    }
  }

  // Predictions of each group's units by its model, side by side in the order of the units.
  struct GroupPrediction {
    std::vector<std::uint32_t> units;
    core::Matrix<float> revenue, cost;
  };

  void run_day(std::size_t day) {
    split_units(day);
    const simulate::Simulator simulator =
        world_on(deploy_, context_.seed, static_cast<std::uint64_t>(deploy_.trial_days) + day, cost_scale_on(day),
                 shift_on(day));
    const std::size_t num_chunks = (num_units_ + kChunkUnits - 1) / kChunkUnits;
    std::vector<simulate::UnitBlock> blocks(num_chunks);
    std::vector<TrialRows> random(num_chunks);
    std::vector<std::vector<GroupPrediction>> predictions(num_chunks);
    core::for_each_chunk(context_, num_units_, kChunkUnits, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
      simulate::UnitBlock block = simulator.make_units(begin, end - begin);
      std::vector<std::vector<std::uint32_t>> rows(num_groups_ + 1);
      for (std::size_t unit = begin; unit < end; ++unit)
        rows[group_of_[unit]].push_back(static_cast<std::uint32_t>(unit - begin));
      predictions[chunk].resize(num_groups_);
      for (std::size_t group = 0; group < num_groups_; ++group) {
        GroupPrediction& part = predictions[chunk][group];
        core::Matrix<float> features(rows[group].size(), coder_->columns().size());
        coder_->encode(block, rows[group], features.view());
        part.revenue = core::Matrix<float>(rows[group].size(), simulator.arms().size());
        part.cost = core::Matrix<float>(rows[group].size(), simulator.arms().size());
        model::predict(models_[group], std::as_const(features).view(), part.revenue.view(), part.cost.view(), context_);
        for (const std::uint32_t row : rows[group]) part.units.push_back(static_cast<std::uint32_t>(begin) + row);
      }
      if (!rows[num_groups_].empty()) random[chunk] = random_rows(simulator, *coder_, begin, block, rows[num_groups_]);
      block.features.clear();
      blocks[chunk] = std::move(block);
    });
    for (std::size_t group = 0; group < num_groups_; ++group) plan_group(day, group, predictions);
    draw_outcomes(day, simulator, blocks);
    for (const TrialRows& part : random) {
      if (!part.arm.empty()) append_rows(part, trial_);
    }
  }

  void plan_group(std::size_t day, std::size_t group, const std::vector<std::vector<GroupPrediction>>& predictions) {
    const std::size_t num_arms = trial_.arms.size();
    core::Matrix<float> revenue(group_sizes_[group], num_arms), cost(group_sizes_[group], num_arms);
    std::vector<std::uint32_t> units;
    for (const std::vector<GroupPrediction>& chunk : predictions) {
      const GroupPrediction& part = chunk[group];
      std::copy_n(part.revenue.data(), part.revenue.view().size(), revenue.data() + units.size() * num_arms);
      std::copy_n(part.cost.data(), part.cost.view().size(), cost.data() + units.size() * num_arms);
      units.insert(units.end(), part.units.begin(), part.units.end());
    }
    const allocate::Problem problem{.revenue = std::as_const(revenue).view(), .cost = std::as_const(cost).view()};
    const double budget = result_.budget_per_unit * static_cast<double>(group_sizes_[group]);
    budget_[group] += budget;
    week_budget_[group] += budget;
    const std::size_t days_left = std::min(kDaysAWeek - day % kDaysAWeek, result_.days - day);
    for (std::size_t way = 0; way < kNumWays; ++way) {
      const double target = controllers_[way][group].target(budget, day % kDaysAWeek, days_left);
      allocate::Solution solution = allocate::allocate(problem, target, context_);
      if (!solution.has_plan()) solution = allocate::allocate(problem, solution.least_spend, context_);
      planned_[way][group] = solution.spend;
      for (std::size_t i = 0; i < units.size(); ++i) arms_[way][units[i]] = solution.arm[i];
    }
  }

  void draw_outcomes(std::size_t day, const simulate::Simulator& simulator,
                     const std::vector<simulate::UnitBlock>& blocks) {
    for (std::size_t way = 0; way < kNumWays; ++way) {
      std::vector<double> revenue(num_units_), cost(num_units_);
      core::for_each_chunk(
          context_, num_units_, kChunkUnits, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
            const std::span<const std::uint8_t> arms(arms_[way].data() + begin, end - begin);
            const simulate::DrawnOutcomes drawn = simulator.draw_outcomes(begin, arms, blocks[chunk]);
            std::copy(drawn.revenue.begin(), drawn.revenue.end(), revenue.begin() + static_cast<std::ptrdiff_t>(begin));
            std::copy(drawn.cost.begin(), drawn.cost.end(), cost.begin() + static_cast<std::ptrdiff_t>(begin));
          });
      std::vector<double> spent(num_groups_);
      for (std::size_t unit = 0; unit < num_units_; ++unit) {
        const std::size_t group = group_of_[unit];
        if (group == num_groups_) continue;
        spent[group] += cost[unit];
        week_sums_[way].add(unit, group, revenue[unit], cost[unit]);
        all_sums_[way].add(unit, group, revenue[unit], cost[unit]);
      }
      for (std::size_t group = 0; group < num_groups_; ++group) {
        const double budget = result_.budget_per_unit * static_cast<double>(group_sizes_[group]);
        controllers_[way][group].observe(budget, day % kDaysAWeek, planned_[way][group], spent[group]);
      }
    }
  }

  std::vector<GroupResult> describe(const GroupSums& sums, const std::vector<double>& budgets) const {
    std::vector<GroupResult> groups;
    for (std::size_t group = 0; group < num_groups_; ++group) {
      const GroupSums::Totals totals = sums.totals(group);
      groups.push_back({deploy_.methods[group], totals.unit_days, totals.revenue, totals.spend, budgets[group],
                        sums.mean_revenue(group, options_.level),
                        sums.relative_gain(group, result_.reference, options_.level)});
    }
    return groups;
  }

  void end_week(std::size_t day) {
    for (std::size_t way = 0; way < kNumWays; ++way) {
      campaign(way).weeks.push_back({day / kDaysAWeek + 1, day % kDaysAWeek + 1, cost_scale_on(day), shift_on(day),
                                     training_rows_, describe(week_sums_[way], week_budget_)});
      week_sums_[way].clear();
    }
    week_budget_.assign(num_groups_, 0.0);
  }

  const data::Study& study_;
  const data::Study::Deploy& deploy_;
  const DeployOptions& options_;
  core::RunContext& context_;
  std::size_t num_units_;
  std::size_t num_groups_;
  std::unique_ptr<FeatureCoder> coder_;
  data::Trial trial_;  // the random data so far
  std::size_t training_rows_ = 0;
  std::vector<model::Model> models_;                       // per group
  std::vector<std::uint8_t> group_of_;                     // today, per unit
  std::vector<std::size_t> group_sizes_;                   // today
  std::vector<std::vector<std::uint8_t>> arms_;            // way x unit, today
  std::vector<std::vector<double>> planned_;               // way x group, predicted spend today
  std::vector<std::vector<SpendController>> controllers_;  // way x group
  std::vector<GroupSums> week_sums_, all_sums_;            // per way
  std::vector<double> budget_, week_budget_;               // per group, so far
  DeployResult result_;
};

}  // namespace

DeployResult deploy(const data::Study& study, const DeployOptions& options, core::RunContext& context) {
  validate(study.deploy);
  if (!options.checkpoint_folder.empty()) std::filesystem::create_directories(options.checkpoint_folder);
  return Deployment(study, options, context).run();
}

}  // namespace dfcl::launch
