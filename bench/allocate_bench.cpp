// SPDX-License-Identifier: Apache-2.0
//
// The allocator against fifty steps of bisection, side by side in one run: one budget with its plan, then the whole
// curve with its peak memory, then how time grows with the units. Usage: bench_allocate [units] [threads]
// [budget|curve]; growth is left out where the units are given; the last one runs that alone, some times over, for a
// profiler.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string_view>

#include "bench/allocate_bisection.h"
#include "dfcl/allocate/allocate.h"
#include "dfcl/allocate/plan_path.h"
#include "dfcl/core/parallel.h"
#include "dfcl/core/random.h"

namespace dfcl::bench {
namespace {

constexpr std::size_t kArms = 5;
constexpr int kRepeats = 5;

double seconds_of(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double peak_gigabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1e6;
}

struct Data {
  core::Matrix<float> revenue;
  core::Matrix<float> cost;
  double most = 0.0;  // cost of the last arm for all
};

Data make_data(std::size_t units, core::RunContext& context) {
  Data data{core::Matrix<float>(units, kArms), core::Matrix<float>(units, kArms)};
  data.most = core::sum_chunks(
      context, units, 65'536, 0.0,
      [&](std::size_t begin, std::size_t end) {
        double sum = 0.0;
        for (std::size_t unit = begin; unit < end; ++unit) {
          core::RandomStream stream(1, core::stream_purpose("allocate bench"), unit);
          float spent = 0.0f;
          const auto size = static_cast<float>(stream.uniform(0.5, 2.0));
          data.cost(unit, 0) = data.revenue(unit, 0) = 0.0f;
          for (std::size_t arm = 1; arm < kArms; ++arm) {
            spent += static_cast<float>(stream.uniform(0.1, 1.0));
            data.cost(unit, arm) = spent;
            data.revenue(unit, arm) = size * std::sqrt(spent) + static_cast<float>(stream.uniform(-0.025, 0.025));
          }
          sum += static_cast<double>(spent);
        }
        return sum;
      },
      [](double& total, double part) { total += part; });
  return data;
}

allocate::Problem problem_of(const Data& data, std::size_t units) {
  return {.revenue = data.revenue.view().slice(0, units), .cost = data.cost.view().slice(0, units)};
}

// The path in buckets: what building takes, and any budget after it, beside the memory of the predictions.
void many_budgets(const allocate::Problem& problem, double most, core::RunContext& context) {
  allocate::PlanPath path(problem, allocate::PlanPath::Form::bucketed);
  const double build = seconds_of([&] { path.ends(context); });
  double slowest = 0.0;
  double total = 0.0;
  constexpr int kBudgets = 20;
  for (int i = 1; i <= kBudgets; ++i) {
    const double seconds = seconds_of([&] { path.at_budget(0.04 * i * most, context); });
    slowest = std::max(slowest, seconds);
    total += seconds;
  }
  const allocate::PathPlan plan = path.at_budget(0.2 * most, context);
  const double arms = seconds_of([&] { path.arms(plan, context); });
  const double predictions = 8e-9 * static_cast<double>(problem.revenue.size());
  fmt::print(
      "  path in buckets       {:8.3f} s   then a budget {:.4f} s, slowest {:.4f} s, its arms {:.3f} s   peak memory "
      "{:.2f} x "
      "the predictions\n",
      build, total / kBudgets, slowest, arms, peak_gigabytes() / predictions);
}

void compare(std::size_t units, core::RunContext& context) {
  const Data data = make_data(units, context);
  const allocate::Problem problem = problem_of(data, units);
  const double budget = 0.2 * data.most;
  const double input = peak_gigabytes();
  double bisection = 1e9;
  double single = 1e9;
  float multiplier = 0.0f;
  allocate::Solution solution;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    bisection = std::min(
        bisection, seconds_of([&] { multiplier = bisect_multiplier(problem.revenue, problem.cost, budget, context); }));
    single = std::min(single, seconds_of([&] { solution = allocate::allocate(problem, budget, context); }));
  }
  fmt::print("{} units x {} arms, {} threads, best of {}\n", units, kArms, context.pool.threads(), kRepeats);
  fmt::print("  bisection, 50 steps   {:8.3f} s   multiplier {:.6f}\n", bisection, multiplier);
  fmt::print("  one budget and plan   {:8.3f} s   multiplier {:.6f}   {:.1f} x faster   gap {:.3g} of {:.6g}\n", single,
             solution.multiplier, bisection / single, solution.gap, solution.value);
  many_budgets(problem, data.most, context);
  double curve = 1e9;
  for (int repeat = 0; repeat < 3; ++repeat) {
    curve = std::min(curve, seconds_of([&] { allocate::allocate_curve(problem, 100, context); }));
  }
  fmt::print("  curve of 100 points   {:8.3f} s   {:.2f} x the bisection   peak memory {:.2f} GB, input {:.2f} GB\n",
             curve, curve / bisection, peak_gigabytes(), input);
}

void growth(core::RunContext& context) {
  fmt::print("growth:    units   one budget, ns/unit   curve, ns/unit\n");
  const Data data = make_data(10'000'000, context);
  for (const std::size_t units : {100'000u, 300'000u, 1'000'000u, 3'000'000u, 10'000'000u}) {
    const allocate::Problem problem = problem_of(data, units);
    const double budget = 0.2 * data.most * static_cast<double>(units) / 1e7;
    double single = 1e9;
    double curve = 1e9;
    for (int repeat = 0; repeat < 3; ++repeat) {
      single = std::min(single, seconds_of([&] { allocate::allocate(problem, budget, context); }));
      curve = std::min(curve, seconds_of([&] { allocate::allocate_curve(problem, 100, context); }));
    }
    fmt::print("        {:>9}   {:19.1f}   {:14.1f}\n", units, 1e9 * single / static_cast<double>(units),
               1e9 * curve / static_cast<double>(units));
  }
}

void repeat_one(std::size_t units, bool curve, core::RunContext& context) {
  const Data data = make_data(units, context);
  const allocate::Problem problem = problem_of(data, units);
  double best = 1e9;
  for (int repeat = 0; repeat < 20; ++repeat) {
    best = std::min(best, seconds_of([&] {
                      if (curve) {
                        allocate::allocate_curve(problem, 100, context);
                      } else {
                        allocate::allocate(problem, 0.2 * data.most, context);
                      }
                    }));
  }
  fmt::print("{} units, {}: {:.4f} s, best of 20\n", units, curve ? "curve of 100 points" : "one budget and plan",
             best);
}

}  // namespace
}  // namespace dfcl::bench

int main(int argc, char** argv) {
  const std::size_t units = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  dfcl::core::RunContext context(argc > 2 ? std::atoi(argv[2]) : 2);
  if (argc > 3) {
    dfcl::bench::repeat_one(units, std::string_view(argv[3]) == "curve", context);
    return 0;
  }
  dfcl::bench::compare(units, context);
  if (argc < 2) dfcl::bench::growth(context);
}
