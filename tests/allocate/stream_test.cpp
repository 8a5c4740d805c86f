// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "dfcl/allocate/plan_path.h"
#include "dfcl/core/error.h"
#include "dfcl/data/ids.h"
#include "tests/allocate/instances.h"

namespace dfcl::allocate {
namespace {

// An instance in pieces, as a file would come.
class InstanceSource final : public data::BatchSource {
 public:
  InstanceSource(const Instance& instance, std::size_t batch_units) : instance_(instance), batch_units_(batch_units) {
    columns_.push_back({"id", data::ColumnType::int64});
    for (std::size_t arm = 0; arm < instance.revenue.cols(); ++arm) {
      arms.push_back(std::string(1, static_cast<char>('a' + arm)));
      columns_.push_back({"cost_" + arms.back(), data::ColumnType::float64});
      columns_.push_back({"revenue_" + arms.back(), data::ColumnType::float32});
      if (instance.eligible.rows() > 0) columns_.push_back({"eligible_" + arms.back(), data::ColumnType::int64});
    }
  }
  const std::vector<data::ColumnInfo>& columns() const override { return columns_; }
  bool next(data::Batch& batch) override {
    if (row_ == instance_.revenue.rows()) return false;
    batch = {};
    batch.num_rows = std::min(batch_units_, instance_.revenue.rows() - row_);
    std::vector<std::int64_t> ids(batch.num_rows);
    for (std::size_t i = 0; i < batch.num_rows; ++i) ids[i] = static_cast<std::int64_t>(row_ + i);
    batch.columns.push_back(std::move(ids));
    for (std::size_t arm = 0; arm < instance_.revenue.cols(); ++arm) {
      std::vector<double> cost(batch.num_rows);
      std::vector<float> revenue(batch.num_rows);
      std::vector<std::int64_t> eligible(batch.num_rows);
      for (std::size_t i = 0; i < batch.num_rows; ++i) {
        cost[i] = static_cast<double>(instance_.cost(row_ + i, arm));
        revenue[i] = instance_.revenue(row_ + i, arm);
        if (instance_.eligible.rows() > 0) eligible[i] = instance_.eligible(row_ + i, arm);
      }
      batch.columns.push_back(std::move(cost));
      batch.columns.push_back(std::move(revenue));
      if (instance_.eligible.rows() > 0) batch.columns.push_back(std::move(eligible));
    }
    row_ += batch.num_rows;
    return true;
  }
  void rewind() override {
    row_ = 0;
    ++passes;
  }

  std::vector<std::string> arms;
  int passes = 0;

 private:
  const Instance& instance_;
  std::size_t batch_units_;
  std::size_t row_ = 0;
  std::vector<data::ColumnInfo> columns_;
};

struct Streamed {
  Solution solution;
  std::vector<std::uint8_t> arm;
  int passes = 0;
};

// keys[unit]: the hash of the id that the source writes.
std::vector<std::uint64_t> keys_of(const Instance& instance) {
  const data::Ids ids = data::RowNumbers{0, instance.revenue.rows()};
  std::vector<std::uint64_t> keys;
  for (std::size_t unit = 0; unit < instance.revenue.rows(); ++unit) keys.push_back(ids.hash(unit));
  return keys;
}

Solution solve_in_memory(const Instance& instance, double budget, core::RunContext& context) {
  const std::vector<std::uint64_t> keys = keys_of(instance);
  Problem problem = instance.problem();
  problem.keys = keys;
  return allocate(problem, budget, context);
}

Streamed solve_streamed(const Instance& instance, double budget, std::size_t batch_units, int threads) {
  core::RunContext context(threads);
  InstanceSource source(instance, batch_units);
  Streamed result;
  PlanPath path(source, source.arms, instance.options.rules, context);
  const PathPlan plan = path.at_budget(budget, context);
  result.solution = plan.summary;
  if (plan.summary.has_plan()) {
    path.deliver(
        plan,
        [&](const PlannedUnits& planned) {
          EXPECT_EQ(planned.units.first_unit, result.arm.size());
          EXPECT_EQ(std::get<std::vector<std::int64_t>>(planned.batch->columns[0])[0],
                    static_cast<std::int64_t>(planned.units.first_unit));
          for (std::size_t i = 0; i < planned.size(); ++i) {
            EXPECT_EQ(planned.cost(i), instance.cost(planned.units.first_unit + i, planned.arm[i]));
            EXPECT_EQ(planned.revenue(i), instance.revenue(planned.units.first_unit + i, planned.arm[i]));
          }
          result.arm.insert(result.arm.end(), planned.arm.begin(), planned.arm.end());
        },
        context);
  }
  result.passes = source.passes;
  return result;
}

void expect_same(const Solution& streamed, const Solution& in_memory) {
  EXPECT_EQ(streamed.status, in_memory.status);
  EXPECT_EQ(streamed.value, in_memory.value);
  EXPECT_EQ(streamed.revenue, in_memory.revenue);
  EXPECT_EQ(streamed.spend, in_memory.spend);
  EXPECT_EQ(streamed.bound, in_memory.bound);
  EXPECT_EQ(streamed.multiplier, in_memory.multiplier);
  EXPECT_EQ(streamed.least_spend, in_memory.least_spend);
  EXPECT_EQ(streamed.control_revenue, in_memory.control_revenue);
  EXPECT_EQ(streamed.control_cost, in_memory.control_cost);
  EXPECT_EQ(streamed.units_per_arm, in_memory.units_per_arm);
  EXPECT_EQ(streamed.binding, in_memory.binding);
}

TEST(AllocateStream, GivesThePlanOfAllocateOnSmallProblems) {
  core::RunContext context(1);
  for (std::uint64_t i = 0; i < 40; ++i) {
    core::RandomStream stream(909, core::stream_purpose("allocate stream test"), i);
    Instance instance = small_instance(stream);
    if (i % 3 == 0) add_eligibility(instance, stream);
    if (i % 4 == 0) instance.options.rules = {.objective = Objective::profit, .margin = 0.5};
    if (i % 4 == 1) instance.options.rules.min_roi = 1.0;
    const double budget = static_cast<double>(stream.below(40)) - 10.0;
    SCOPED_TRACE(testing::Message() << "seed 909, instance " << i);
    const Solution in_memory = solve_in_memory(instance, budget, context);
    const Streamed streamed = solve_streamed(instance, budget, 1 + stream.below(4), 1);
    EXPECT_EQ(streamed.arm, in_memory.arm);
    expect_same(streamed.solution, in_memory);
  }
}

TEST(AllocateStream, GivesThePlanOfAllocateOnALargeProblemInThreePasses) {
  const std::size_t units = 600'000;
  Instance instance = smooth_instance(units, 4, 31);
  core::RandomStream stream(910, core::stream_purpose("allocate stream test"), 0);
  core::RunContext context(2);
  for (const bool masked : {false, true}) {
    if (masked) add_eligibility(instance, stream, 0.8);
    for (const double per_unit : {0.02, 0.4, 5.0}) {
      const double budget = per_unit * static_cast<double>(units);
      const Solution in_memory = solve_in_memory(instance, budget, context);
      const Streamed streamed = solve_streamed(instance, budget, 50'001, 2);
      EXPECT_EQ(streamed.arm, in_memory.arm);
      EXPECT_LE(streamed.passes, 3);
      expect_same(streamed.solution, in_memory);
      if (!in_memory.has_plan()) continue;
      EXPECT_TRUE(is_feasible(instance.problem(), in_memory.arm, budget * (1 + 1e-12)));
    }
  }
}

TEST(AllocateStream, FindsTheCutAmongMillionsOfEqualUnits) {
  const std::size_t units = 2'500'000;
  Instance instance(units, 2);
  for (std::size_t unit = 0; unit < units; ++unit) {
    instance.revenue(unit, 0) = instance.cost(unit, 0) = 0.0f;
    instance.revenue(unit, 1) = 0.7f;
    instance.cost(unit, 1) = 0.1f;
  }
  const double budget = 1234567.5 * static_cast<double>(0.1f);
  const Streamed streamed = solve_streamed(instance, budget, 300'000, 2);
  core::RunContext context(2);
  EXPECT_EQ(streamed.solution.units_per_arm[1], 1'234'567);
  EXPECT_EQ(solve_in_memory(instance, budget, context).arm, streamed.arm);
}

TEST(AllocateStream, CallsNoSinkWhereTheBudgetCannotBeMet) {
  const Instance instance = smooth_instance(100, 3, 32);
  const Streamed streamed = solve_streamed(instance, -1.0, 10, 1);
  EXPECT_EQ(streamed.solution.status, Status::cannot_be_met);
  EXPECT_TRUE(streamed.arm.empty());
}

TEST(AllocateStream, NamesMissingColumnsAndBadUnits) {
  core::RunContext context(1);
  Instance instance = smooth_instance(100, 3, 33);
  InstanceSource source(instance, 7);
  EXPECT_THROW(PlanPath(source, {"a", "z"}, {}, context), core::Error);
  instance.cost(93, 2) = std::numeric_limits<float>::quiet_NaN();
  try {
    PlanPath(source, source.arms, {}, context).at_budget(1.0, context);
    ADD_FAILURE() << "no error";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.details().where, "unit 93");
  }
}

TEST(AllocateStream, GivesThePlanOfApplyMultiplier) {
  const Instance instance = smooth_instance(5000, 4, 34);
  core::RunContext context(2);
  const Solution in_memory = apply_multiplier(instance.problem(), 0.8, context);
  InstanceSource source(instance, 999);
  PlanPath path(source, source.arms, {}, context);
  const PathPlan plan = path.at_multiplier(0.8, context);
  std::vector<std::uint8_t> arm;
  path.deliver(
      plan, [&](const PlannedUnits& planned) { arm.insert(arm.end(), planned.arm.begin(), planned.arm.end()); },
      context);
  EXPECT_EQ(arm, in_memory.arm);
  expect_same(plan.summary, in_memory);
}

TEST(AllocateStream, HasTheCurveOfThePathInMemory) {
  const Instance instance = smooth_instance(5000, 4, 35);
  core::RunContext context(2);
  const std::vector<std::uint64_t> keys = keys_of(instance);
  Problem problem = instance.problem();
  problem.keys = keys;
  const Curve in_memory = allocate_curve(problem, 7, context);
  InstanceSource source(instance, 999);
  const Curve streamed = PlanPath(source, source.arms, {}, context).curve(7, context);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(streamed.points[i].spend, in_memory.points[i].spend);
    EXPECT_EQ(streamed.points[i].value, in_memory.points[i].value);
    EXPECT_EQ(streamed.points[i].units_per_arm, in_memory.points[i].units_per_arm);
  }
}

}  // namespace
}  // namespace dfcl::allocate
