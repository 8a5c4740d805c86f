// SPDX-License-Identifier: Apache-2.0
//
// Seconds to fit boosted trees to both outcomes of a trial of five arms, and to predict all arms of the same units.
// Usage: bench_boost FILE THREADS TREES, where FILE is raw float32, rows x 110: 107 features, the arm, revenue and
// cost. The last eleventh of the rows validates. bench/boost_lightgbm.py writes it and runs LightGBM on the same
// numbers. A number of rows instead of the file: units like those, made here.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dfcl/boost/boost_learner.h"
#include "dfcl/boost/boost_predictor.h"
#include "dfcl/core/random.h"

namespace dfcl::bench {
namespace {

constexpr std::size_t kFeatures = 107;
constexpr std::size_t kArms = 5;

struct Units {
  data::Features features;
  data::Arms arms;
  std::vector<std::uint8_t> arm, is_training;
  std::vector<float> revenue, cost, weight;
  std::vector<std::uint32_t> rows, validation_rows;
};

// Sets features, arm, revenue and cost of one unit.
using FillRow = std::function<void(std::uint32_t unit, std::span<float> row)>;

Units make_units(std::size_t count, const FillRow& fill) {
  Units units;
  for (std::size_t feature = 0; feature < kFeatures; ++feature)
    units.features.columns.push_back({.name = fmt::format("x{}", feature), .categorical = false, .levels = {}});
  units.features.values = core::Matrix<float>(count, kFeatures);
  units.arms.labels = {"0", "1", "2", "3", "4"};
  units.arms.ordered = true;
  std::vector<float> row(kFeatures + 3);
  for (std::uint32_t unit = 0; unit < count; ++unit) {
    fill(unit, row);
    std::copy_n(row.begin(), kFeatures, units.features.values.row(unit).data());
    units.arm.push_back(static_cast<std::uint8_t>(row[kFeatures]));
    units.revenue.push_back(row[kFeatures + 1]);
    units.cost.push_back(row[kFeatures + 2]);
    units.weight.push_back(kArms);
    const bool trains = unit < count * 10 / 11;
    units.is_training.push_back(trains ? 1 : 0);
    (trains ? units.rows : units.validation_rows).push_back(unit);
  }
  return units;
}

Units read_units(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::size_t count = static_cast<std::size_t>(file.tellg()) / sizeof(float) / (kFeatures + 3);
  file.seekg(0);
  return make_units(count, [&](std::uint32_t, std::span<float> row) {
    file.read(reinterpret_cast<char*>(row.data()), static_cast<std::streamsize>(row.size() * sizeof(float)));
  });
}

// Numbers of several shapes, some of few values; counts whose means depend on a few of them and on the arm.
Units simulated_units(std::size_t count) {
  return make_units(count, [](std::uint32_t unit, std::span<float> row) {
    core::RandomStream random(1, core::stream_purpose("bench boost"), unit);
    for (std::size_t i = 0; i < kFeatures; ++i) {
      const auto x = static_cast<float>(random.normal());
      row[i] = i < 40 ? x : i < 60 ? std::exp(x) : i < 80 ? std::floor(std::abs(x) * 4) : x > 0.5f ? 1.0f : 0.0f;
    }
    const std::uint32_t arm = random.below(kArms);
    const float smooth = 0.5f * row[0] + 0.4f * std::abs(row[1]) + 0.3f * (row[2] > 0.0f ? row[3] : 0.0f);
    const float base = std::exp(smooth + 0.1f * row[60] - 0.3f * row[90]);
    const auto steps = static_cast<float>(arm);
    const float lift = 1.0f + 0.1f * steps * std::log1p(std::exp(row[4] + 0.5f * row[5]));
    const auto count_of = [&](float mean) {  // as Poisson's, by the times between
      float left = mean;
      float events = -1.0f;
      for (; left > 0.0f; ++events) left += static_cast<float>(std::log(random.uniform(1e-12, 1.0)));
      return std::max(events, 0.0f);
    };
    row[kFeatures] = steps;
    row[kFeatures + 1] = count_of(base * lift);
    row[kFeatures + 2] = count_of(base * lift * 0.05f * steps);
  });
}

// By the clock, and of all processors.
class Timer {
 public:
  std::string text() const {
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    return fmt::format("{:.3f} s ({:.3f} s of all processors)", wall,
                       static_cast<double>(std::clock() - busy_) / CLOCKS_PER_SEC);
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::clock_t busy_ = std::clock();
};

void run(const char* path, int threads, std::int64_t trees) {
  const long long rows = std::atoll(path);
  const Units units = rows > 0 ? simulated_units(static_cast<std::size_t>(rows)) : read_units(path);
  core::RunContext context(threads, 1);
  learn::TrainingSet set;
  set.features = &units.features;
  set.arms = &units.arms;
  set.arm = units.arm;
  set.revenue = set.scaled_revenue = units.revenue;
  set.cost = set.scaled_cost = units.cost;
  set.weight = units.weight;
  set.is_training = units.is_training;
  set.rows = units.rows;
  set.validation_rows = units.validation_rows;
  set.facts.revenue = {.num_arms = kArms, .kind = loss::OutcomeKind::non_negative};
  set.facts.cost = set.facts.revenue;
  data::Study study;
  study.boost.trees = trees;
  study.boost.bags = 1;
  const Timer fit_time;
  const auto learner = boost::make_boost_learner({.study = study, .set = set, .steps = {}, .seed = 1}, context);
  const learn::Fit fit = learner->fit(set, learn::Objective(), learn::Stage(), context);
  const std::string fitted = fit_time.text();
  core::Matrix<float> revenue(units.rows.size(), kArms), cost(units.rows.size(), kArms);
  const Timer predict_time;
  fit.predictor->predict({units.features.values.view(), units.rows}, {revenue.view(), cost.view()}, context);
  fmt::print("dfcl fit {}, predict {}, {} trees\n", fitted, predict_time.text(),
             dynamic_cast<const boost::BoostPredictor&>(*fit.predictor).parts().num_trees());
}

}  // namespace
}  // namespace dfcl::bench

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print("bench_boost ROWS THREADS TREES; bench/boost_lightgbm.py runs it with a file of units\n");
    return 0;
  }
  dfcl::bench::run(argv[1], std::atoi(argv[2]), std::atoll(argv[3]));
}
