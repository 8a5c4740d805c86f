// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/compare.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "dfcl/verbs/simulate.h"
#include "tests/io/temporary_folder.h"

namespace dfcl::verbs {
namespace {

// Counts how often something was read to its end.
class Readings : public core::ProgressSink {
 public:
  void progress(std::string_view, std::uint64_t, std::uint64_t, std::string_view) override {}
  void finished(std::string_view task) override {
    if (task == "reading") ++count;
  }
  void warning(std::string_view) override {}

  int count = 0;
};

int readings_of_comparison(const io::TemporaryFolder& folder, int seeds) {
  Readings readings;
  core::RunContext context(1, 1, &readings);
  CompareRequest request;
  request.study.file = folder.file("study.toml");
  request.study.settings = {"compare.methods=[\"tsm\"]", "method.epochs=1", "compare.seeds=" + std::to_string(seeds),
                            "network.hidden=[4]"};
  request.truth = ModelInput{.path = folder.file("truth.parquet")};
  request.output = folder.file("compared-" + std::to_string(seeds));
  request.resamples = 0;
  const CompareResult result = compare(request, context);
  EXPECT_EQ(result.report.comparison.seeds.size(), static_cast<std::size_t>(seeds));
  return readings.count;
}

TEST(Compare, ReadsTrialAndTruthOnceHoweverManySeedsThereAre) {
  const io::TemporaryFolder folder;
  core::RunContext context(1, 1);
  SimulateRequest world;
  world.rows = 2000;
  world.output = folder.file("trial.parquet");
  world.truth = folder.file("truth.parquet");
  world.study = folder.file("study.toml");
  (void)simulate(world, context);
  EXPECT_EQ(readings_of_comparison(folder, 1), 2);
  EXPECT_EQ(readings_of_comparison(folder, 3), 2);
}

}  // namespace
}  // namespace dfcl::verbs
