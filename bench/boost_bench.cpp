// SPDX-License-Identifier: Apache-2.0
//
// Seconds to fit boosted trees to both outcomes of a trial of five arms, and to predict all arms of the same units.
// Usage: bench_boost FILE THREADS TREES, where FILE is raw float32, rows x 110: 107 features, the arm, revenue and
// cost. The last eleventh of the rows validates. bench/boost_lightgbm.py writes it and runs LightGBM on the same
// numbers.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "dfcl/boost/boost_learner.h"
#include "dfcl/boost/boost_predictor.h"

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

Units read_units(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::size_t count = static_cast<std::size_t>(file.tellg()) / sizeof(float) / (kFeatures + 3);
  file.seekg(0);
  Units units;
  for (std::size_t feature = 0; feature < kFeatures; ++feature)
    units.features.columns.push_back({.name = fmt::format("x{}", feature), .categorical = false, .levels = {}});
  units.features.values = core::Matrix<float>(count, kFeatures);
  units.arms.labels = {"0", "1", "2", "3", "4"};
  units.arms.ordered = true;
  std::vector<float> row(kFeatures + 3);
  for (std::uint32_t unit = 0; unit < count; ++unit) {
    file.read(reinterpret_cast<char*>(row.data()), static_cast<std::streamsize>(row.size() * sizeof(float)));
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
  const Units units = read_units(path);
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
    fmt::print("bench/boost_lightgbm.py runs this with a file of units\n");
    return 0;
  }
  dfcl::bench::run(argv[1], std::atoi(argv[2]), std::atoll(argv[3]));
}
