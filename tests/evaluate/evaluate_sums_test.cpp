// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/sums/evaluate_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "dfcl/core/bytes.h"
#include "dfcl/core/error.h"
#include "dfcl/core/random.h"
#include "dfcl/evaluate/sums/judge_task.h"
#include "small_trials.h"

namespace dfcl::evaluate {
namespace {

// A trial whose judged rows lie in parts, in blocks and in an order that says nothing.
struct Dealt {
  SmallTrial small;
  TrialRows rows;
  Predicted a, b, nuisance;
  std::vector<std::vector<JudgedBlock>> parts;
  TrialFacts facts{kSmallArms};
};

JudgedBlock block_of(const Dealt& dealt, const std::vector<std::size_t>& rows) {
  JudgedBlock block;
  block.num_arms = kSmallArms;
  block.predicted_revenue.resize(3);
  block.predicted_cost.resize(3);
  for (const std::size_t row : rows) {
    block.key.push_back(dealt.rows.key[row]);
    block.arm.push_back(dealt.rows.arm[row]);
    block.revenue.push_back(dealt.rows.revenue[row]);
    block.cost.push_back(dealt.rows.cost[row]);
    if (dealt.rows.has_propensity) block.propensity.push_back(dealt.small.trial.propensity[row]);
    const Predicted* const predictions[] = {&dealt.a, &dealt.b, &dealt.nuisance};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t arm = 0; arm < kSmallArms; ++arm) {
        block.predicted_revenue[i].push_back(predictions[i]->revenue(row, arm));
        block.predicted_cost[i].push_back(predictions[i]->cost(row, arm));
      }
    }
  }
  return block;
}

Dealt deal(std::size_t num_parts, const SmallTrialOptions& options = {.num_units = 1500}) {
  Dealt dealt{small_trial(4, options), {}, {}, {}, {}, {}};
  dealt.rows = rows_of(dealt.small.trial, std::nullopt);
  dealt.a = predict(dealt.small.x, dealt.small.y, sees_x);
  dealt.b = predict(dealt.small.x, dealt.small.y, sees_y);
  dealt.nuisance = predict(dealt.small.x, dealt.small.y, true_response);
  std::vector<std::vector<std::size_t>> rows(num_parts);
  for (std::size_t row = 0; row < dealt.rows.size(); ++row) {
    core::RandomStream stream(num_parts, core::stream_purpose("deal"), row);
    const double place = stream.uniform();
    rows[static_cast<std::size_t>(place * place * static_cast<double>(num_parts))].push_back(row);  // most in the first
  }
  dealt.parts.resize(num_parts);
  for (std::size_t part = 0; part < num_parts; ++part) {
    std::reverse(rows[part].begin(), rows[part].end());
    const std::size_t half = rows[part].size() / 2;
    for (const auto& [from, to] : {std::pair(std::size_t{0}, half), std::pair(half, rows[part].size())}) {
      if (from == to) continue;
      const auto at = [&](std::size_t i) { return rows[part].begin() + static_cast<std::ptrdiff_t>(i); };
      const JudgedBlock block = block_of(dealt, {at(from), at(to)});
      // As bytes and back.
      dealt.parts[part].push_back(JudgedBlock::from_bytes(block.to_bytes()));
    }
  }
  TrialFacts facts(kSmallArms);
  facts.add(dealt.small.trial, data::Split::test, dealt.nuisance.outcomes());
  dealt.facts = TrialFacts::from_bytes(facts.to_bytes());
  return dealt;
}

std::string run_task(const Dealt& dealt, const std::string& bytes) {
  core::RunContext context(1, 3);
  std::vector<std::string> found;
  for (const auto& blocks : dealt.parts) {
    JudgePart part(JudgeTask::from_bytes(bytes));
    for (const JudgedBlock& block : blocks) part.add(block, context);
    if (!blocks.empty()) found.push_back(part.to_bytes());
  }
  JudgePart forward(JudgeTask::from_bytes(bytes)), backward(JudgeTask::from_bytes(bytes));
  for (const std::string& one : found) forward.merge_bytes(one);
  std::reverse(found.begin(), found.end());
  for (const std::string& one : found) backward.merge_bytes(one);
  const std::string merged = forward.to_bytes();
  EXPECT_EQ(merged, backward.to_bytes());
  return merged;
}

EvaluationOptions options_for(Estimator estimator) {
  EvaluationOptions options;
  options.estimator = estimator;
  options.budgets_per_unit = {0.4, 0.15};  // not in rising order
  options.num_resamples = 50;
  options.areas = options.heterogeneity = false;
  options.value_per_revenue = 0.8;
  return options;
}

Evaluation from_sums(const Dealt& dealt, const EvaluationOptions& options) {
  SummedInput input{dealt.rows.arms, dealt.rows.cost_facts, dealt.facts, {}, "the truth", {}, {}};
  input.models = {{.name = "a"}, {.name = "b"}};
  core::RunContext context(1, 3);
  return evaluate_sums(
      input, options, [&](const std::string& task) { return run_task(dealt, task); }, context);
}

Evaluation from_rows(const Dealt& dealt, const EvaluationOptions& options) {
  core::RunContext context(1, 3);
  const EvaluationInput input{
      .rows = dealt.rows,
      .models = {{.name = "a", .prediction = dealt.a.outcomes()}, {.name = "b", .prediction = dealt.b.outcomes()}},
      .nuisance = dealt.nuisance.outcomes(),
      .nuisance_name = "the truth",
      .arm_means = arm_means(dealt.small.trial, data::Split::test, context)};
  return evaluate(input, options, context);
}

void add(const Interval& interval, std::vector<double>& numbers) {
  numbers.insert(numbers.end(), {interval.value, interval.low, interval.high});
}

void add(const JudgedPlan& plan, std::vector<double>& numbers) {
  for (const Interval* interval : {&plan.revenue, &plan.incremental_revenue, &plan.cost, &plan.incremental_cost,
                                   &plan.return_per_cost, &plan.spend_over_budget, &plan.simultaneous_increment,
                                   &*plan.incremental_profit, &*plan.roi, &*plan.simultaneous_profit})
    add(*interval, numbers);
  numbers.insert(numbers.end(), {plan.budget_per_unit, plan.multiplier, plan.predicted_revenue, plan.predicted_cost});
  numbers.insert(numbers.end(), plan.share_per_arm.begin(), plan.share_per_arm.end());
}

// Everything that both ways say.
std::vector<double> numbers_of(const Evaluation& evaluation) {
  std::vector<double> numbers;
  add(evaluation.control_revenue, numbers);
  add(evaluation.control_cost, numbers);
  for (const ModelFigures& model : evaluation.models) {
    for (const JudgedPlan& plan : model.deployed) add(plan, numbers);
  }
  for (const BaselineFigures& baseline : evaluation.baselines) {
    for (const JudgedPlan& plan : baseline.plans) add(plan, numbers);
  }
  for (const DifferenceFigures& one : evaluation.differences) {
    add(one.revenue, numbers);
    add(one.relative, numbers);
    add(one.cost, numbers);
    numbers.insert(numbers.end(), {one.simultaneous_low, one.simultaneous_high, one.p_value});
  }
  for (const BaselineDifferenceFigures& one : evaluation.baseline_differences) {
    add(one.net, numbers);
    add(one.revenue, numbers);
    add(*one.profit, numbers);
    numbers.insert(numbers.end(), {one.price, one.simultaneous_low, one.simultaneous_high});
  }
  return numbers;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

constexpr Estimator kEstimators[] = {Estimator::doubly_robust, Estimator::hajek, Estimator::horvitz_thompson};

TEST(EvaluateSums, AnyCutOfTheRowsGivesTheSameBits) {
  for (const Estimator estimator : kEstimators) {
    const EvaluationOptions options = options_for(estimator);
    const std::vector<double> of_one = numbers_of(from_sums(deal(1), options));
    for (const std::size_t num_parts : {3u, 17u})
      EXPECT_TRUE(same_bits(numbers_of(from_sums(deal(num_parts), options)), of_one)) << num_parts << " parts";
  }
}

TEST(EvaluateSums, FiguresAreThoseOfRowsInOnePlace) {
  for (const bool propensities : {false, true}) {
    for (const Estimator estimator : kEstimators) {
      const Dealt dealt = deal(3, {.num_units = 1500, .propensities = propensities});
      const EvaluationOptions options = options_for(estimator);
      const Evaluation sums = from_sums(dealt, options);
      const Evaluation rows = from_rows(dealt, options);
      const std::vector<double> a = numbers_of(sums), b = numbers_of(rows);
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (std::isnan(a[i]) && std::isnan(b[i])) continue;
        EXPECT_NEAR(a[i], b[i], 1e-9 * (1.0 + std::abs(b[i])))
            << "number " << i << ", " << to_text(estimator) << ", propensities " << propensities;
      }
      EXPECT_EQ(sums.reference, rows.reference);
      EXPECT_EQ(sums.verdict.status, rows.verdict.status);
      EXPECT_EQ(sums.verdict.sentence, rows.verdict.sentence);
      EXPECT_EQ(sums.num_units, rows.num_units);
      for (std::size_t model = 0; model < 2; ++model) {
        EXPECT_EQ(sums.models[model].deployed[0].share_per_arm, rows.models[model].deployed[0].share_per_arm);
        EXPECT_EQ(sums.models[model].deployed[1].multiplier, rows.models[model].deployed[1].multiplier);
      }
    }
  }
}

TEST(EvaluateSums, WhatTheKnownCostOfArmsSaysIsKept) {
  Dealt dealt = deal(3);
  dealt.small.trial.cost_facts = dealt.rows.cost_facts = {data::CostKind::rate, {0.0, 0.1, 0.25}};
  const EvaluationOptions options = options_for(Estimator::doubly_robust);
  const std::vector<double> a = numbers_of(from_sums(dealt, options)), b = numbers_of(from_rows(dealt, options));
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    EXPECT_NEAR(a[i], b[i], 1e-9 * (1.0 + std::abs(b[i]))) << i;
  }
}

TEST(EvaluateSums, FactsOfPartsMergeToTheSameBytes) {
  const SmallTrial small = small_trial(4, {.num_units = 300});
  TrialFacts whole(kSmallArms);
  whole.add(small.trial, data::Split::test, {});
  TrialFacts backward(kSmallArms);
  for (std::size_t part = 0; part < 3; ++part) {
    data::Trial some;
    some.arms = small.trial.arms;
    for (std::size_t unit = 0; unit < small.trial.num_units(); ++unit) {
      if (unit % 3 != 2 - part) continue;
      some.arm.push_back(small.trial.arm[unit]);
      some.revenue.push_back(small.trial.revenue[unit]);
      some.cost.push_back(small.trial.cost[unit]);
      some.split.push_back(small.trial.split[unit]);
    }
    TrialFacts facts(kSmallArms);
    facts.add(some, data::Split::test, {});
    backward.merge(TrialFacts::from_bytes(facts.to_bytes()));
  }
  EXPECT_EQ(backward.to_bytes(), whole.to_bytes());
}

TEST(EvaluateSums, WhatNeedsRowsInOnePlaceIsRefused) {
  const Dealt dealt = deal(1);
  EvaluationOptions stratified = options_for(Estimator::stratified);
  EXPECT_THROW(from_sums(dealt, stratified), core::Error);
  EvaluationOptions analytic = options_for(Estimator::hajek);
  analytic.analytic = true;
  EXPECT_THROW(from_sums(dealt, analytic), core::Error);
}

TEST(EvaluateSums, BytesThatAreDamagedAreRefused) {
  const Dealt dealt = deal(1, {.num_units = 60});
  const std::string block = dealt.parts[0][0].to_bytes();
  const std::string facts = dealt.facts.to_bytes();
  for (const std::string& good : {block, facts}) {
    for (std::size_t cut = 0; cut < good.size(); cut += 37) {
      EXPECT_THROW(JudgedBlock::from_bytes(good.substr(0, cut)), core::Error);
      EXPECT_THROW(TrialFacts::from_bytes(good.substr(0, cut)), core::Error);
      EXPECT_THROW(JudgeTask::from_bytes(good.substr(0, cut)), core::Error);
    }
  }
  EXPECT_THROW(JudgedBlock::from_bytes(facts), core::Error);
  EXPECT_THROW(TrialFacts::from_bytes(block), core::Error);
}

// With the checksum of what it says.
std::string forge(std::string good, core::RandomStream& stream) {
  good.resize(good.size() - sizeof(std::uint64_t));
  const std::size_t changes = 1 + stream.below(3);
  for (std::size_t i = 0; i < changes; ++i) {
    // Half of them where counts and kinds are.
    const std::size_t most = stream.bernoulli(0.5) ? std::min<std::size_t>(good.size(), 80) : good.size();
    good[stream.below(static_cast<std::uint32_t>(most))] = static_cast<char>(stream.below(256));
  }
  if (stream.bernoulli(0.2)) good.resize(stream.below(static_cast<std::uint32_t>(good.size())));
  core::ByteWriter bytes;
  for (const char letter : good) bytes.write(letter);
  return std::move(bytes).seal();
}

TEST(EvaluateSums, ForgedBytesEndInAnErrorOrInSomethingSound) {
  const Dealt dealt = deal(1, {.num_units = 60});
  const JudgedBlock& block = dealt.parts[0][0];
  std::vector<std::string> tasks;
  SummedInput input{dealt.rows.arms, dealt.rows.cost_facts, dealt.facts, {}, "", {}, {}};
  input.models = {{.name = "a"}};
  core::RunContext context(1, 3);
  (void)evaluate_sums(
      input, options_for(Estimator::hajek),
      [&](const std::string& task) {
        tasks.push_back(task);
        return run_task(dealt, task);
      },
      context);
  std::size_t num_refused = 0;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    core::RandomStream stream(11, core::stream_purpose("forge"), i);
    const auto counts_refusal = [&](const auto& use) {
      try {
        use();
      } catch (const core::Error&) {
        ++num_refused;
      }
    };
    counts_refusal([&] { (void)TrialFacts::from_bytes(forge(dealt.facts.to_bytes(), stream)).means({}); });
    counts_refusal([&] {
      JudgePart part(JudgeTask::from_bytes(tasks.back()));
      part.add(JudgedBlock::from_bytes(forge(block.to_bytes(), stream)), context);
    });
    counts_refusal([&] {
      const JudgeTask task = JudgeTask::from_bytes(forge(tasks[i % tasks.size()], stream));
      if (task.sums && task.sums->shape.num_resamples > 1000) return;  // as much memory as was asked for
      JudgePart part(task);
      part.add(block, context);
    });
  }
  EXPECT_GT(num_refused, 1500u);
}

}  // namespace
}  // namespace dfcl::evaluate
