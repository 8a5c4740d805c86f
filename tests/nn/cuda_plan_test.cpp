// SPDX-License-Identifier: Apache-2.0
//
// What the engine for graphics cards prepares on the host; the engine itself is checked by tests/cuda where there is a
// card.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/nn/cuda/plan.h"
#include "dfcl/nn/cuda/shuffle.h"
#include "dfcl/nn/cuda/table_plan.h"
#include "dfcl/nn/cuda/training_card.h"
#include "tests/cuda/cases.h"

namespace dfcl::nn::cuda {
namespace {

TEST(CudaPlanTest, every_parameter_has_one_place_in_the_layout_and_one_for_each_way) {
  for (const Case& sample : all_cases()) {
    const Plan plan = make_plan(sample.options, false);
    ASSERT_EQ(plan.num_parameters, OutcomeNetwork<float>(sample.options.network).network().num_parameters());
    std::set<std::int32_t> parameters;
    std::set<std::int32_t> packed;
    std::size_t num_packed = 0;
    for (std::size_t i = 0; i < plan.maps.parameter.size(); ++i) {
      if (plan.maps.parameter[i] < 0) continue;
      parameters.insert(plan.maps.parameter[i]);
      for (const std::int32_t place : {plan.maps.forward[i], plan.maps.backward[i]}) {
        if (place < 0) continue;
        EXPECT_LT(place, plan.network.packed_size);
        packed.insert(place);
        ++num_packed;
      }
    }
    EXPECT_EQ(parameters.size(), plan.num_parameters) << sample.name;
    EXPECT_EQ(packed.size(), num_packed) << sample.name;
    EXPECT_EQ(plan.network.layout_size % kUnitPositions, 0);
  }
}

// A bias is a float, a weight half of one.
TEST(CudaPlanTest, with_bf16_weights_lie_in_halves_and_biases_beside_them) {
  for (Case sample : all_cases()) {
    sample.options.precision = Precision::bf16;
    const Plan plan = make_plan(sample.options, true);
    std::set<std::int32_t> halves;
    std::size_t num_halves = 0;
    const auto add = [&](std::int32_t half) {
      EXPECT_LT(half, 2 * plan.network.packed_size);
      halves.insert(half);
      ++num_halves;
    };
    for (std::size_t i = 0; i < plan.maps.parameter.size(); ++i) {
      if (plan.maps.parameter[i] < 0) continue;
      const std::int32_t forward = plan.maps.forward[i];
      const std::int32_t back = plan.maps.backward[i];
      const bool bias = back == -2;
      add(bias ? 2 * forward : forward);
      if (bias) add(2 * forward + 1);
      if (back >= 0) add(back);
    }
    EXPECT_EQ(halves.size(), num_halves) << sample.name;
    EXPECT_GE(plan.network.first_fact, 16 * plan.network.layers[0].k_pairs) << sample.name;
    EXPECT_EQ(plan.network.record_inputs % 4, 0);
  }
}

TEST(CudaPlanTest, rounding_to_bf16_is_to_the_nearest_even_and_keeps_nan) {
  EXPECT_EQ(bf16_bits(1.0f), 0x3f80);
  EXPECT_EQ(bf16_bits(1.0f + 0x1p-8f), 0x3f80);    // halfway, to the even one
  EXPECT_EQ(bf16_bits(1.0f + 0x1.8p-7f), 0x3f82);  // halfway, to the even one
  EXPECT_EQ(bf16_bits(-1.0f - 0x1.01p-8f), 0xbf81);
  EXPECT_EQ(bf16_bits(std::bit_cast<float>(0x7f800001u)), 0x7fff);
}

TEST(CudaPlanTest, a_tile_keeps_every_number_apart_and_fragments_meet_no_bank_twice) {
  std::set<int> places;
  for (int row = 0; row < 32; ++row) {
    for (int column = 0; column < 96; ++column) places.insert(place_in_tile(32, row, column));
  }
  EXPECT_EQ(places.size(), 32u * 96u);
  EXPECT_EQ(*places.rbegin(), 32 * 96 - 1);
  std::set<int> banks;  // of 8 rows, four neighbouring columns each: what a matrix of a fragment reads at once
  for (int row = 0; row < 8; ++row) banks.insert(place_in_tile(32, row, 20) / 4 % 8);
  EXPECT_EQ(banks.size(), 8u);
}

TEST(CudaPlanTest, a_shuffle_names_every_row_once) {
  for (const std::uint32_t count : {1u, 2u, 3u, 1000u, 4097u}) {
    const Shuffle shuffle = Shuffle::of(count, 1, 2);
    std::vector<bool> seen(count, false);
    for (std::uint32_t i = 0; i < count; ++i) {
      ASSERT_LT(shuffle.row(i), count);
      EXPECT_FALSE(seen[shuffle.row(i)]);
      seen[shuffle.row(i)] = true;
    }
  }
}

TEST(CudaPlanTest, rounding_to_tf32_keeps_ten_bits_and_nan) {
  EXPECT_EQ(rounded_to_tf32(1.0f + 0x1p-10f), 1.0f + 0x1p-10f);
  EXPECT_EQ(rounded_to_tf32(1.0f + 0x1p-12f), 1.0f);
  EXPECT_EQ(rounded_to_tf32(-1.0f - 0x1.8p-10f), -1.0f - 0x1p-9f);
  EXPECT_TRUE(std::isnan(rounded_to_tf32(std::bit_cast<float>(0x7fffffffu))));
}

TEST(CudaPlanTest, what_does_not_fit_is_refused_by_name) {
  CardNetworkOptions options = marketing_options();
  options.network.revenue.num_arms = options.network.cost.num_arms = 100;
  try {
    make_plan(options, false);
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::unavailable);
    EXPECT_NE(std::string(error.what()).find("number of arms"), std::string::npos);
  }
}

TEST(CudaPlanTest, parameters_of_a_network_for_tables_have_one_place) {
  core::RunContext context(1);
  core::Matrix<float> features(200, 3);
  for (std::size_t row = 0; row < features.rows(); ++row) {
    features.row(row)[0] = static_cast<float>(row);
    features.row(row)[1] = static_cast<float>(row % 3);
    features.row(row)[2] = static_cast<float>(row % 7);
  }
  std::vector<data::FeatureColumn> columns = {{"a", false, {}}, {"b", false, {}}, {"c", true, {data::kPooledLevel}}};
  for (const char* level : {"1", "2", "3", "4", "5", "6"}) columns[2].levels.emplace_back(level);
  const TableEncoding encoding = fit_table_encoding(columns, std::as_const(features).view(), {}, 16, context);
  const learn::OutcomeFacts facts{.num_arms = 3, .kind = loss::OutcomeKind::binary};
  const TableNetwork<float> network(encoding, {.members = 4, .revenue = facts, .cost = facts});
  CardLosses losses;
  losses.prediction = {facts.kind, facts.kind};
  const TableCardPlan plan = make_table_plan(losses, network);
  std::set<std::int32_t> parameters;
  std::set<std::int32_t> packed;
  std::size_t num_packed = 0;
  for (std::size_t i = 0; i < plan.maps.parameter.size(); ++i) {
    if (plan.maps.parameter[i] < 0) continue;
    parameters.insert(plan.maps.parameter[i]);
    for (const std::int32_t place : {plan.maps.forward[i], plan.maps.backward[i]}) {
      if (place < 0) continue;
      EXPECT_LT(place, plan.network.packed_size);
      packed.insert(place);
      ++num_packed;
    }
  }
  // The first layer and its bias lie behind, as they are.
  EXPECT_EQ(*parameters.begin(), static_cast<std::int32_t>(network.layout().scale1));
  EXPECT_EQ(parameters.size() + network.layout().scale1, network.layout().size);
  EXPECT_EQ(packed.size(), num_packed);
  EXPECT_GE(plan.network.encoded, plan.network.num_values);
  EXPECT_EQ(plan.network.encoded % 32, 0);
}

TEST(CudaPlanTest, without_a_card_the_engine_says_so) {
  if (!card_name().empty()) GTEST_SKIP() << "there is a card: " << card_name();
  try {
    (void)make_card(criteo_options(), FillInputs<float>());
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::unavailable);
  }
}

}  // namespace
}  // namespace dfcl::nn::cuda
