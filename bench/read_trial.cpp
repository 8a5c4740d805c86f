// SPDX-License-Identifier: Apache-2.0
// One side of bench/read.py: reads the trial of a study once and prints seconds and peak memory as JSON.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>

#include "dfcl/io/study/study_file.h"
#include "dfcl/io/trial/trial_reader.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: read_trial STUDY THREADS\n");
    return 2;
  }
  dfcl::core::RunContext context(std::atoi(argv[2]));
  const auto start = std::chrono::steady_clock::now();
  const dfcl::data::Trial trial = dfcl::io::read_trial(dfcl::io::read_study(argv[1]), context);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("{{\"seconds\": {:.4f}, \"peak_bytes\": {}, \"rows\": {}, \"features\": {}}}\n", seconds,
             usage.ru_maxrss * 1024, trial.num_units(), trial.features.num_features());
}
