// SPDX-License-Identifier: Apache-2.0
//
// One budget, rules and eligibility: against brute force over all plans, and the properties of the path.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "dfcl/core/error.h"
#include "tests/allocate/instances.h"

namespace dfcl::allocate {
namespace {

constexpr std::uint64_t kSeed = 20240611;
constexpr std::uint32_t kTest = core::stream_purpose("allocate path test");

// The largest gain of value that one unit can make by one change of arm.
double largest_increment(const Problem& problem) {
  double largest = 0.0;
  for (std::size_t unit = 0; unit < problem.num_units(); ++unit) {
    for (std::size_t a = 0; a < problem.num_arms(); ++a) {
      for (std::size_t b = 0; b < problem.num_arms(); ++b) {
        const double revenue = static_cast<double>(problem.revenue(unit, b)) - problem.revenue(unit, a);
        const double cost = static_cast<double>(problem.cost(unit, b)) - problem.cost(unit, a);
        largest = std::max(
            largest, problem.rules.objective == Objective::profit ? problem.rules.margin * revenue - cost : revenue);
      }
    }
  }
  return largest;
}

void expect_reconciles(const Problem& problem, const Solution& solution) {
  ASSERT_EQ(solution.arm.size(), problem.num_units());
  const PlanTotals totals = totals_of(problem, solution.arm);
  EXPECT_DOUBLE_EQ(solution.spend, totals.cost);
  EXPECT_DOUBLE_EQ(solution.revenue, totals.revenue);
  EXPECT_DOUBLE_EQ(solution.value, value_of(problem, totals));
  EXPECT_EQ(solution.units_per_arm, totals.units);
  EXPECT_TRUE(is_feasible(problem, solution.arm, solution.budget));
  EXPECT_GE(solution.bound, solution.value);
  EXPECT_EQ(solution.gap, solution.bound - solution.value);
  EXPECT_GE(solution.multiplier, 0.0);
}

void compare_with_brute_force(const Problem& problem, double budget, core::RunContext& context) {
  const Solution solution = allocate(problem, budget, context);
  const BruteForce truth = brute_force(problem, budget);
  EXPECT_EQ(solution.least_spend, truth.least_spend);
  if (!truth.best) {
    EXPECT_EQ(solution.status, Status::cannot_be_met);
    EXPECT_TRUE(solution.arm.empty());
    return;
  }
  ASSERT_TRUE(solution.has_plan()) << to_text(solution.status);
  expect_reconciles(problem, solution);
  const double tolerance = 1e-9;
  EXPECT_LE(*truth.best, solution.bound + tolerance);
  EXPECT_GE(solution.value, *truth.best - solution.gap - tolerance);
  EXPECT_LE(solution.gap, largest_increment(problem) + tolerance);
  const BruteForce unlimited = brute_force(problem, kNoBudget);
  if (solution.status == Status::optimal) {
    EXPECT_GT(spend_range(problem, context).most, budget);
    EXPECT_GT(solution.multiplier, 0.0);
  } else {
    EXPECT_NEAR(solution.value, *unlimited.best, tolerance);
    EXPECT_EQ(solution.multiplier, 0.0);
    const std::vector<std::uint8_t> control(problem.num_units(), static_cast<std::uint8_t>(problem.rules.control));
    const bool gain = *unlimited.best > value_of(problem, totals_of(problem, control)) + tolerance;
    if (problem.eligible.data == nullptr && solution.status == Status::no_gain) {
      EXPECT_FALSE(gain);
    }
    if (gain) {
      EXPECT_EQ(solution.status, std::isinf(budget) ? Status::no_budget : Status::not_binding);
    }
  }
}

double random_budget(core::RandomStream& stream) { return 0.5 * (static_cast<double>(stream.below(70)) - 20.0); }

TEST(Allocate, AgreesWithBruteForceOnThousandsOfSmallProblems) {
  core::RunContext context(1);
  for (std::uint64_t i = 0; i < 4000; ++i) {
    core::RandomStream stream(kSeed, kTest, i);
    Instance instance = small_instance(stream);
    if (i % 3 == 1) add_eligibility(instance, stream);
    if (i % 4 == 1) {
      instance.options.rules.objective = Objective::profit;
      instance.options.rules.margin = stream.bernoulli(0.5) ? 0.5 : 2.0;
    }
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", instance " << i);
    compare_with_brute_force(instance.problem(), i % 17 == 0 ? kNoBudget : random_budget(stream), context);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Allocate, WithALeastReturnMaximisesRevenueNetOfItsPrice) {
  core::RunContext context(1);
  for (std::uint64_t i = 0; i < 1500; ++i) {
    core::RandomStream stream(kSeed + 1, kTest, i);
    Instance instance = small_instance(stream);
    if (i % 3 == 1) add_eligibility(instance, stream);
    instance.options.rules.min_roi = 0.25 * (1 + stream.below(12));
    const Problem problem = instance.problem();
    SCOPED_TRACE(testing::Message() << "seed " << kSeed + 1 << ", instance " << i);
    const Solution solution = allocate(problem, kNoBudget, context);
    ASSERT_TRUE(solution.has_plan());
    expect_reconciles(problem, solution);
    const double net = solution.revenue - problem.rules.min_roi * solution.spend;
    EXPECT_NEAR(net, *brute_force(problem, kNoBudget, problem.rules.min_roi).best, 1e-9);
    // With a budget on top: still feasible, and no more is bought than without it.
    const Solution limited = allocate(problem, solution.spend - 0.5, context);
    if (limited.has_plan()) {
      expect_reconciles(problem, limited);
      EXPECT_LE(limited.revenue - problem.rules.min_roi * limited.spend, net + 1e-9);
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Allocate, TellsWhatEndedTheSpending) {
  core::RunContext context(1);
  Instance instance(1, 3);
  const float revenue[] = {0, 4, 6};
  const float cost[] = {0, 1, 3};
  std::copy(revenue, revenue + 3, instance.revenue.data());
  std::copy(cost, cost + 3, instance.cost.data());
  EXPECT_EQ(allocate(instance.problem(), 2.5, context).binding, Binding::budget);
  EXPECT_EQ(allocate(instance.problem(), 10, context).binding, Binding::best_arms);
  instance.options.rules.min_roi = 2.0;
  const Solution solution = allocate(instance.problem(), 10, context);
  EXPECT_EQ(solution.binding, Binding::min_roi);
  EXPECT_EQ(solution.arm[0], 1);
  instance.options.rules.min_roi = 1.0;  // exactly what the last increment earns
  EXPECT_EQ(allocate(instance.problem(), 10, context).binding, Binding::best_arms);
}

TEST(Allocate, SpendsNothingWhereNoArmBeatsControl) {
  core::RunContext context(1);
  Instance instance(3, 2);
  for (std::size_t unit = 0; unit < 3; ++unit) {
    instance.revenue(unit, 0) = 5.0f;
    instance.revenue(unit, 1) = unit == 0 ? 5.0f : 4.0f;
    instance.cost(unit, 0) = 0.0f;
    instance.cost(unit, 1) = 1.0f;
  }
  const Solution solution = allocate(instance.problem(), 100, context);
  EXPECT_EQ(solution.status, Status::no_gain);
  EXPECT_EQ(solution.spend, 0.0);
  EXPECT_EQ(solution.control_revenue, 15.0);
}

TEST(Allocate, TakesFreeAndPayingArmsBeforeAnythingElse) {
  core::RunContext context(1);
  Instance instance(1, 4);
  const float revenue[] = {1, 3, 2, 9};
  const float cost[] = {0, 0, -2, 4};
  std::copy(revenue, revenue + 4, instance.revenue.data());
  std::copy(cost, cost + 4, instance.cost.data());
  EXPECT_EQ(allocate(instance.problem(), -2, context).arm[0], 2);
  EXPECT_EQ(allocate(instance.problem(), 0, context).arm[0], 2);  // 2 -> 3 passes over arm 1: it is below the hull
  EXPECT_EQ(allocate(instance.problem(), 4, context).arm[0], 3);
  EXPECT_EQ(allocate(instance.problem(), -2.5, context).status, Status::cannot_be_met);
  EXPECT_EQ(allocate(instance.problem(), -2.5, context).least_spend, -2.0);
}

TEST(Allocate, CutsAMillionEqualUnitsByRowOrder) {
  core::RunContext context(2);
  const std::size_t units = 1'000'000;
  Instance instance(units, 2);
  for (std::size_t unit = 0; unit < units; ++unit) {
    instance.revenue(unit, 0) = 0.0f;
    instance.revenue(unit, 1) = 0.3f;
    instance.cost(unit, 0) = 0.0f;
    instance.cost(unit, 1) = 0.1f;
  }
  const Solution solution = allocate(instance.problem(), 12345.67 * static_cast<double>(0.1f), context);
  EXPECT_EQ(solution.status, Status::optimal);
  EXPECT_EQ(solution.units_per_arm[1], 12345);
  EXPECT_EQ(solution.arm[12344], 1);
  EXPECT_EQ(solution.arm[12345], 0);
  EXPECT_LE(solution.gap, static_cast<double>(0.3f));
}

TEST(Allocate, NamesTheUnitWhoseNumberIsNotFinite) {
  core::RunContext context(2);
  for (const std::size_t units : {std::size_t{10}, std::size_t{120'000}, std::size_t{200'100}}) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
      for (const bool in_cost : {false, true}) {
        Instance instance = smooth_instance(units, 3, 5);
        (in_cost ? instance.cost : instance.revenue)(units - 3, 1) = bad;
        try {
          allocate(instance.problem(), 0.3 * static_cast<double>(units), context);
          ADD_FAILURE() << "no error";
        } catch (const core::Error& error) {
          EXPECT_EQ(error.kind(), core::ErrorKind::data);
          EXPECT_EQ(error.details().where, "unit " + std::to_string(units - 3));
        }
      }
    }
  }
}

TEST(Allocate, RefusesMalformedProblems) {
  core::RunContext context(1);
  Instance instance = smooth_instance(5, 3, 5);
  EXPECT_THROW(allocate(instance.problem(), std::nan(""), context), core::Error);
  instance.options.rules.control = 3;
  EXPECT_THROW(allocate(instance.problem(), 1, context), core::Error);
  instance.options.rules = {.min_roi = -1.0};
  EXPECT_THROW(allocate(instance.problem(), 1, context), core::Error);
  instance.options.rules = {.objective = Objective::profit, .margin = 0.0};
  EXPECT_THROW(allocate(instance.problem(), 1, context), core::Error);
  instance.options.rules = {};
  instance.cost = core::Matrix<float>(5, 2);
  EXPECT_THROW(allocate(instance.problem(), 1, context), core::Error);
  instance = smooth_instance(2, 2, 5);
  instance.eligible = core::Matrix<std::uint8_t>(2, 2);
  for (std::size_t i = 0; i < 4; ++i) instance.eligible.data()[i] = i < 2 ? 1 : 0;
  EXPECT_THROW(allocate(instance.problem(), 1, context), core::Error);
}

TEST(Allocate, NoUnitsIsAPlanToo) {
  core::RunContext context(1);
  Instance instance(0, 2);
  EXPECT_TRUE(allocate(instance.problem(), 0, context).has_plan());
  EXPECT_EQ(allocate(instance.problem(), -1, context).status, Status::cannot_be_met);
}

TEST(Allocate, NeverLosesValueNorRaisesTheMultiplierAsTheBudgetGrows) {
  core::RunContext context(1);
  for (std::uint64_t i = 0; i < 300; ++i) {
    core::RandomStream stream(kSeed + 2, kTest, i);
    const Instance instance = small_instance(stream);
    double value = -1e300;
    double bound = -1e300;
    double multiplier = 1e300;
    for (double budget = -15; budget < 40; budget += 0.5) {
      const Solution solution = allocate(instance.problem(), budget, context);
      if (!solution.has_plan()) continue;
      SCOPED_TRACE(testing::Message() << "seed " << kSeed + 2 << ", instance " << i << ", budget " << budget);
      EXPECT_GE(solution.value, value);
      EXPECT_GE(solution.bound, bound - 1e-9);
      EXPECT_LE(solution.multiplier, multiplier);
      value = solution.value;
      bound = solution.bound;
      multiplier = solution.multiplier;
    }
  }
}

TEST(Allocate, NeverLosesValueAsTheBudgetOfALargeProblemGrows) {
  core::RunContext context(2);
  const Instance instance = smooth_instance(3000, 5, 3);
  for (const double step : {50.0, 0.01}) {  // the small one moves within the increment at the cut
    double value = -1e300;
    for (int i = 0; i < 120; ++i) {
      const Solution solution = allocate(instance.problem(), 300 + step * i, context);
      EXPECT_GE(solution.value, value - 1e-9) << "step " << step << ", " << i;
      value = solution.value;
    }
  }
}

// min over L of G(L) (eq. 2), by narrowing an interval: knows nothing of hulls or paths.
double lp_optimum(const Problem& problem, double budget) {
  const auto dual = [&](double multiplier) {
    double sum = multiplier * budget;
    for (std::size_t unit = 0; unit < problem.num_units(); ++unit) {
      double best = -1e300;
      for (std::size_t arm = 0; arm < problem.num_arms(); ++arm) {
        best = std::max(best, static_cast<double>(problem.revenue(unit, arm)) - multiplier * problem.cost(unit, arm));
      }
      sum += best;
    }
    return sum;
  };
  double low = 0.0;
  double high = 1000.0;
  for (int step = 0; step < 120; ++step) {
    const double a = low + (high - low) / 3.0;
    const double b = high - (high - low) / 3.0;
    (dual(a) < dual(b) ? high : low) = dual(a) < dual(b) ? b : a;
  }
  return dual(0.5 * (low + high));
}

TEST(Allocate, GivesTheOptimumOfTheLinearRelaxationAsItsBound) {
  core::RunContext context(2);
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Instance instance = smooth_instance(5000, 2 + seed, seed);
    for (const double budget : {100.0, 1000.0, 3000.0, 20'000.0}) {
      const Solution solution = allocate(instance.problem(), budget, context);
      EXPECT_NEAR(solution.bound, lp_optimum(instance.problem(), budget), 1e-9 * solution.bound)
          << "seed " << seed << ", budget " << budget;
    }
  }
}

TEST(Allocate, AddingAConstantToAllArmsOfAUnitChangesNoChoice) {
  core::RunContext context(1);
  for (std::uint64_t i = 0; i < 500; ++i) {
    core::RandomStream stream(kSeed + 3, kTest, i);
    Instance instance = small_instance(stream);
    const double budget = random_budget(stream);
    const Solution first = allocate(instance.problem(), budget, context);
    double moved = 0.0;
    for (std::size_t unit = 0; unit < instance.revenue.rows(); ++unit) {
      const auto more_revenue = static_cast<float>(stream.below(100));
      const auto more_cost = static_cast<float>(stream.below(100)) - 50.0f;
      for (float& revenue : instance.revenue.row(unit)) revenue += more_revenue;
      for (float& cost : instance.cost.row(unit)) cost += more_cost;
      moved += static_cast<double>(more_cost);
    }
    SCOPED_TRACE(testing::Message() << "seed " << kSeed + 3 << ", instance " << i);
    EXPECT_EQ(allocate(instance.problem(), budget + moved, context).arm, first.arm);
  }
}

TEST(Allocate, PowersOfTwoInRevenueOrCostChangeNoChoiceAtTheScaledBudget) {
  core::RunContext context(2);
  for (const std::size_t units : {std::size_t{500}, std::size_t{120'000}, std::size_t{300'000}}) {
    Instance instance = smooth_instance(units, 4, 17);
    const double budget = 0.4 * static_cast<double>(units);
    const Solution first = allocate(instance.problem(), budget, context);
    for (std::size_t i = 0; i < instance.cost.rows() * instance.cost.cols(); ++i) {
      instance.cost.data()[i] *= 8.0f;
      instance.revenue.data()[i] *= 0.25f;
    }
    const Solution second = allocate(instance.problem(), 8.0 * budget, context);
    EXPECT_EQ(second.arm, first.arm);
    EXPECT_EQ(second.multiplier, first.multiplier / 32.0);
  }
}

TEST(Allocate, PermutingUnitsPermutesThePlan) {
  core::RunContext context(2);
  const std::size_t units = 4000;
  const Instance instance = smooth_instance(units, 5, 23);
  std::vector<std::size_t> order(units);
  std::iota(order.begin(), order.end(), std::size_t{0});
  core::RandomStream stream(kSeed, kTest, 99);
  for (std::uint32_t i = units - 1; i > 0; --i) std::swap(order[i], order[stream.below(i + 1)]);
  Instance permuted(units, 5);
  for (std::size_t unit = 0; unit < units; ++unit) {
    for (std::size_t arm = 0; arm < 5; ++arm) {
      permuted.revenue(unit, arm) = instance.revenue(order[unit], arm);
      permuted.cost(unit, arm) = instance.cost(order[unit], arm);
    }
  }
  const Solution first = allocate(instance.problem(), 2000, context);
  const Solution second = allocate(permuted.problem(), 2000, context);
  EXPECT_EQ(first.spend, second.spend);
  EXPECT_EQ(first.revenue, second.revenue);
  for (std::size_t unit = 0; unit < units; ++unit) ASSERT_EQ(second.arm[unit], first.arm[order[unit]]);
}

TEST(Allocate, AnyNumberOfThreadsGivesTheSameBytes) {
  for (const std::size_t units : {std::size_t{5000}, std::size_t{120'000}, std::size_t{400'000}}) {
    const Instance instance = smooth_instance(units, 5, 29);
    core::RunContext one(1);
    const Solution first = allocate(instance.problem(), 0.5 * static_cast<double>(units), one);
    for (const int threads : {2, 8}) {
      core::RunContext context(threads);
      const Solution other = allocate(instance.problem(), 0.5 * static_cast<double>(units), context);
      EXPECT_EQ(other.arm, first.arm);
      EXPECT_EQ(other.value, first.value);
      EXPECT_EQ(other.spend, first.spend);
      EXPECT_EQ(other.bound, first.bound);
      EXPECT_EQ(other.multiplier, first.multiplier);
    }
  }
}

TEST(ApplyMultiplier, WithASolutionsMultiplierStaysWithinItsBudget) {
  core::RunContext context(2);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    core::RandomStream stream(kSeed + 4, kTest, i);
    Instance instance = small_instance(stream);
    if (i % 2 == 1) instance.options.rules = {.objective = Objective::profit, .margin = 0.7};
    const double budget = random_budget(stream);
    const Problem problem = instance.problem();
    const Solution solution = allocate(problem, budget, context);
    if (!solution.has_plan()) continue;
    const Solution applied = apply_multiplier(problem, solution.multiplier, context);
    SCOPED_TRACE(testing::Message() << "seed " << kSeed + 4 << ", instance " << i);
    EXPECT_LE(applied.spend, budget);
    // It maximises value - multiplier x spend.
    const double net = applied.value - solution.multiplier * applied.spend;
    EXPECT_NEAR(net, *brute_force(problem, kNoBudget, solution.multiplier).best, 1e-6);
  }
}

TEST(SpendRange, IsWhereThePathBeginsAndEnds) {
  core::RunContext context(2);
  for (std::uint64_t i = 0; i < 300; ++i) {
    core::RandomStream stream(kSeed + 5, kTest, i);
    const Instance instance = small_instance(stream);
    const SpendRange range = spend_range(instance.problem(), context);
    EXPECT_EQ(range.least, brute_force(instance.problem(), kNoBudget).least_spend);
    EXPECT_EQ(range.most, allocate(instance.problem(), kNoBudget, context).spend);
    EXPECT_GE(range.costliest, range.most);
  }
}

}  // namespace
}  // namespace dfcl::allocate
