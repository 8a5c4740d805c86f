// SPDX-License-Identifier: Apache-2.0
//
// The engine of a fit where a graphics card is asked for and cannot be had; engines on a card are checked by
// tests/cuda.
#include "dfcl/nn/cuda/card_engine.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/nn/cuda/card.h"
#include "tests/warnings.h"

namespace dfcl::nn {
namespace {

class HostOnly final : public Engine {
 public:
  std::vector<float> initial_parameters(std::uint64_t) override { return {1.0f}; }
  EpochLosses run_epoch(const EpochPlan&, EngineState&, core::RunContext&) override { return {}; }
  learn::Predicted predict(std::span<const float>, std::span<const std::uint32_t>, core::RunContext&) override {
    return {};
  }
};

std::unique_ptr<Engine> engine_on(const core::Device& device, Engine*& host, Warnings& warnings) {
  core::RunContext context(1, 0, &warnings);
  context.device = device;
  auto made = std::make_unique<HostOnly>();
  host = made.get();
  const learn::TrainingSet set;
  const learn::Objective objective;
  const Preprocessing preprocessing;
  return cuda::on_device(std::move(made), set, objective, preprocessing, OutcomeNetworkOptions{}, context);
}

TEST(CardEngineTest, the_processor_is_asked_for_nothing_else) {
  Warnings warnings;
  Engine* host = nullptr;
  EXPECT_EQ(engine_on({}, host, warnings).get(), host);
  EXPECT_TRUE(warnings.list.empty());
}

TEST(CardEngineTest, without_a_card_a_fit_falls_back_only_where_it_may_and_says_so) {
  if (!cuda::card_name().empty()) GTEST_SKIP() << "there is a card: " << cuda::card_name();
  Warnings warnings;
  Engine* host = nullptr;
  EXPECT_EQ(engine_on({.card = true, .may_fall_back = true}, host, warnings).get(), host);
  ASSERT_EQ(warnings.list.size(), 1u);
  EXPECT_NE(warnings.list[0].find("on the processor"), std::string::npos);
  EXPECT_EQ(warnings.list[0].find('\n'), std::string::npos);
  try {
    engine_on({.card = true}, host, warnings);
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::unavailable);
  }
}

}  // namespace
}  // namespace dfcl::nn
