// SPDX-License-Identifier: Apache-2.0
//
// Evaluation at scale: the AUCC of 4,000,000 rows (evaluate_numpy.py runs sorted and vectorised NumPy on the same
// kind of rows beside it), and 1,000 resamples of the AUCC and of the curve at six budgets on 1,000,000 rows, with and
// without the baselines, and the memory that 16 and 1,000 resamples take. Run: make bench.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "dfcl/core/random.h"
#include "dfcl/evaluate/areas/aucc.h"
#include "dfcl/evaluate/effects/baselines.h"
#include "dfcl/evaluate/evaluate.h"

namespace {

using namespace dfcl;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Of all threads: what counts on a machine that others use too.
double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

// Like Criteo's: 85 % treated, 0/1 outcomes, most rows all zero; or outcomes that are never zero.
struct Rows {
  std::vector<double> score;
  std::vector<std::uint8_t> treated;
  std::vector<float> revenue, cost;
};

Rows make_rows(std::size_t size, bool dense) {
  Rows rows;
  for (std::size_t i = 0; i < size; ++i) {
    core::RandomStream stream(1, core::stream_purpose("evaluate bench"), i);
    rows.score.push_back(stream.uniform());
    rows.treated.push_back(stream.uniform() < 0.85 ? 1 : 0);
    rows.revenue.push_back(dense ? static_cast<float>(stream.uniform()) : (stream.uniform() < 0.003 ? 1.0f : 0.0f));
    rows.cost.push_back(dense ? static_cast<float>(stream.uniform() + 0.1 * rows.treated.back())
                              : (stream.uniform() < 0.038 + 0.01 * rows.treated.back() ? 1.0f : 0.0f));
  }
  return rows;
}

void time_aucc(std::size_t size, int threads) {
  core::RunContext context(threads);
  for (const bool dense : {false, true}) {
    const Rows rows = make_rows(size, dense);
    std::vector<double> seconds;
    double area = 0.0;
    const double processor = processor_seconds();
    for (int repeat = 0; repeat < 5; ++repeat) {
      const auto start = std::chrono::steady_clock::now();
      area = evaluate::aucc({rows.score, rows.treated, rows.revenue, rows.cost}, 200, context).published;
      seconds.push_back(seconds_since(start));
    }
    std::sort(seconds.begin(), seconds.end());
    fmt::print("aucc of {} rows, {}: {:.3f} s (median of 5; fastest {:.3f}; {:.3f} s of processor), {:.4f}\n", size,
               dense ? "no outcome zero" : "as in Criteo", seconds[2], seconds[0],
               (processor_seconds() - processor) / 5.0, area);
  }
}

// A trial of `arms` arms and the predictions of one model.
struct Made {
  evaluate::TrialRows rows;
  core::Matrix<float> revenue, cost;
};

Made make_trial(std::size_t size, std::size_t arms) {
  data::Trial trial;
  for (std::size_t arm = 0; arm < arms; ++arm) trial.arms.labels.push_back(std::to_string(arm));
  trial.ids = data::RowNumbers{1, size};
  Made made{{}, core::Matrix<float>(size, arms), core::Matrix<float>(size, arms)};
  for (std::size_t i = 0; i < size; ++i) {
    core::RandomStream stream(2, core::stream_purpose("evaluate bench"), i);
    const double strength = stream.uniform();
    const double rate = stream.uniform(0.3, 1.5);
    const auto arm = stream.below(static_cast<std::uint32_t>(arms));
    for (std::size_t j = 0; j < arms; ++j) {
      const double dose = static_cast<double>(j);
      made.revenue(i, j) = static_cast<float>(1.0 + strength * (1.0 - std::exp(-rate * dose)));
      made.cost(i, j) = static_cast<float>(0.2 * dose * (0.5 + rate));
    }
    trial.arm.push_back(static_cast<std::uint8_t>(arm));
    trial.revenue.push_back(made.revenue(i, arm) + static_cast<float>(stream.normal()));
    trial.cost.push_back(made.cost(i, arm) * static_cast<float>(2.0 * stream.uniform()));
    trial.split.push_back(data::Split::test);
  }
  made.rows = evaluate::rows_of(trial, std::nullopt);
  return made;
}

// What the baselines take of an evaluation.
struct Seconds {
  double wall = 0.0;
  double processor = 0.0;
};
Seconds time_baselines(const evaluate::EvaluationInput& input, const evaluate::EvaluationOptions& options,
                       core::RunContext& context) {
  const evaluate::Setting setting(input, options, context);
  const double processor = processor_seconds();
  const auto start = std::chrono::steady_clock::now();
  (void)evaluate::run_baselines(setting);
  return {seconds_since(start), processor_seconds() - processor};
}

void time_resamples(std::size_t size, std::size_t arms, int threads, const std::vector<std::size_t>& num_resamples) {
  const Made made = make_trial(size, arms);
  const evaluate::Outcomes prediction{made.revenue.view(), made.cost.view()};
  const evaluate::EvaluationInput input{made.rows, {{"model", "", false, prediction}}, prediction, "itself", {}, {}};
  evaluate::EvaluationOptions options;
  options.budgets_per_unit = {0.05, 0.1, 0.15, 0.2, 0.25, 0.3};
  for (const std::size_t resamples : num_resamples) {
    core::RunContext context(threads, 1);
    options.num_resamples = resamples;
    const double processor = processor_seconds();
    const auto start = std::chrono::steady_clock::now();
    const evaluate::Evaluation evaluation = evaluate::evaluate(input, options, context);
    const Seconds all{seconds_since(start), processor_seconds() - processor};
    const Seconds baselines = time_baselines(input, options, context);
    fmt::print(
        "{} rows, {} arms, {} resamples: {:.2f} s ({:.2f} s of processor), model alone {:.2f} s ({:.2f} s), peak "
        "memory so far {:.0f} MB, {:.5f}\n",
        size, arms, resamples, all.wall, all.processor, all.wall - baselines.wall, all.processor - baselines.processor,
        peak_megabytes(), evaluation.models[0].deployed[0].revenue.low);
  }
}

}  // namespace

// bench_evaluate [threads] [rows of the AUCC] [rows of the resamples, 0: none] [resamples, default: 16 and 1000]
int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  const std::size_t aucc_rows = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 4'000'000;
  const std::size_t rows = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1'000'000;
  time_aucc(aucc_rows, threads);
  if (rows == 0) return 0;
  std::vector<std::size_t> resamples{16, 1000};
  if (argc > 4) resamples = {std::strtoull(argv[4], nullptr, 10)};
  for (const std::size_t arms : {std::size_t{2}, std::size_t{5}}) time_resamples(rows, arms, threads, resamples);
  return 0;
}
