// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/sums/judged_block.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/bytes.h"
#include "dfcl/data/arms.h"

namespace dfcl::evaluate {
namespace {

constexpr std::uint64_t kBlockLetters = 0x316b6c6266636664u;  // "dfcfblk1"

bool are_finite(const std::vector<float>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](float number) { return std::isfinite(number); });
}

}  // namespace

std::string JudgedBlock::to_bytes() const {
  core::ByteWriter bytes;
  bytes.write(kBlockLetters);
  bytes.write_count(num_arms);
  bytes.write_all(key);
  bytes.write_all(arm);
  bytes.write_all(revenue);
  bytes.write_all(cost);
  bytes.write_all(propensity);
  bytes.write_count(num_predictions());
  for (std::size_t i = 0; i < num_predictions(); ++i) {
    bytes.write_all(predicted_revenue[i]);
    bytes.write_all(predicted_cost[i]);
  }
  return std::move(bytes).seal();
}

JudgedBlock JudgedBlock::from_bytes(std::string_view text) {
  core::ByteReader bytes(text, "judged rows");
  bytes.unseal();
  bytes.require(bytes.read<std::uint64_t>() == kBlockLetters, "these bytes are no judged rows");
  JudgedBlock block;
  const auto arms = bytes.read<std::uint64_t>();
  bytes.require(arms >= 2 && arms <= data::kMostArms, "too many arms, or too few");
  block.num_arms = static_cast<std::size_t>(arms);
  block.key = bytes.read_all<std::uint64_t>();
  block.arm = bytes.read_all<std::uint8_t>();
  block.revenue = bytes.read_all<float>();
  block.cost = bytes.read_all<float>();
  block.propensity = bytes.read_all<float>();
  const std::size_t size = block.size();
  bytes.require(block.arm.size() == size && block.revenue.size() == size && block.cost.size() == size &&
                    (block.propensity.empty() || block.propensity.size() == size),
                "columns of different lengths");
  bytes.require(std::all_of(block.arm.begin(), block.arm.end(), [&](std::uint8_t arm) { return arm < arms; }),
                "an arm that is none");
  bytes.require(std::all_of(block.propensity.begin(), block.propensity.end(),
                            [](float share) { return share > 0.0f && share <= 1.0f; }),
                "a propensity that is none");
  bytes.require(are_finite(block.revenue) && are_finite(block.cost), "an outcome that is not finite");
  const std::size_t count = bytes.read_count(2 * sizeof(std::uint64_t));
  for (std::size_t i = 0; i < count; ++i) {
    block.predicted_revenue.push_back(bytes.read_all<float>());
    block.predicted_cost.push_back(bytes.read_all<float>());
    bytes.require(block.predicted_revenue.back().size() == size * block.num_arms &&
                      block.predicted_cost.back().size() == size * block.num_arms,
                  "columns of different lengths");
    bytes.require(are_finite(block.predicted_revenue.back()) && are_finite(block.predicted_cost.back()),
                  "a prediction that is not finite");
  }
  bytes.end();
  return block;
}

}  // namespace dfcl::evaluate
