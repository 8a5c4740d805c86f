// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/estimators/resample.h"

#include <algorithm>
#include <cstring>

#include "dfcl/core/for_each_processor.h"
#include "dfcl/core/random.h"

namespace dfcl::evaluate {
namespace {

constexpr std::uint32_t kPurpose = core::stream_purpose("resample");
constexpr std::size_t kTile = ResampleBlock::kTile;

// One block of Philox4x32-10 for each of kTile streams: the same words as core::RandomStream's, in vectors.
DFCL_FOR_EACH_PROCESSOR
void philox_tile(const std::uint64_t* streams, std::uint32_t counter, std::uint64_t seed, std::uint32_t* words) {
  std::uint32_t a[kTile];
  std::uint32_t b[kTile];
  std::uint32_t c[kTile];
  std::uint32_t d[kTile];
  for (std::size_t i = 0; i < kTile; ++i) {
    a[i] = counter;
    b[i] = kPurpose;
    c[i] = static_cast<std::uint32_t>(streams[i]);
    d[i] = static_cast<std::uint32_t>(streams[i] >> 32);
  }
  auto key_low = static_cast<std::uint32_t>(seed);
  auto key_high = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < kTile; ++i) {
      const std::uint64_t first = std::uint64_t{0xD2511F53u} * a[i];
      const std::uint64_t second = std::uint64_t{0xCD9E8D57u} * c[i];
      a[i] = static_cast<std::uint32_t>(second >> 32) ^ b[i] ^ key_low;
      b[i] = static_cast<std::uint32_t>(second);
      c[i] = static_cast<std::uint32_t>(first >> 32) ^ d[i] ^ key_high;
      d[i] = static_cast<std::uint32_t>(first);
    }
    key_low += 0x9E3779B9u;
    key_high += 0xBB67AE85u;
  }
  for (std::size_t i = 0; i < kTile; ++i) {
    words[4 * i] = a[i];
    words[4 * i + 1] = b[i];
    words[4 * i + 2] = c[i];
    words[4 * i + 3] = d[i];
  }
}

// Bytes to Poisson weights: the number of thresholds at or below the byte.
DFCL_FOR_EACH_PROCESSOR
void poisson_tile(std::uint8_t* bytes) {
  for (std::size_t i = 0; i < kTile * kLanes; ++i) {
    const std::uint8_t byte = bytes[i];
    bytes[i] = static_cast<std::uint8_t>((byte >= 94) + (byte >= 189) + (byte >= 235) + (byte >= 251) + (byte >= 255));
  }
}

}  // namespace

ResampleBlock::ResampleBlock(const TrialRows& rows, Weights kind, std::uint64_t seed, std::size_t block)
    : rows_(&rows), kind_(kind), seed_(seed), block_(block) {
  if (kind == Weights::multinomial) draw_multinomial();
}

void ResampleBlock::draw_multinomial() {
  const TrialRows& rows = *rows_;
  drawn_.assign(rows.num_groups(), {});
  // Groups that can be exchanged: those of one arm, where arms were drawn by group and their sizes are held fixed.
  std::vector<std::vector<std::uint32_t>> strata(rows.num_arms());
  std::vector<std::uint8_t> stratum(rows.num_groups(), 0xff);
  bool mixed = rows.has_propensity;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::uint8_t& of_group = stratum[rows.group(row)];
    mixed = mixed || (of_group != 0xff && of_group != rows.arm[row]);
    of_group = rows.arm[row];
  }
  for (std::size_t group = 0; group < stratum.size(); ++group) {
    strata[mixed ? 0 : stratum[group]].push_back(static_cast<std::uint32_t>(group));
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    core::RandomStream stream(seed_, core::stream_purpose("multinomial resample"), block_ * kLanes + lane);
    for (const std::vector<std::uint32_t>& groups : strata) {
      for (std::size_t draw = 0; draw < groups.size(); ++draw) {
        std::uint8_t& count = drawn_[groups[stream.below(static_cast<std::uint32_t>(groups.size()))]][lane];
        if (count < 0xff) ++count;
      }
    }
  }
}

void ResampleBlock::fill(std::span<const std::uint32_t> rows, Tile& weights) const {
  if (rows_ == nullptr) {
    std::memset(weights.data(), 1, sizeof(Tile));
    return;
  }
  if (kind_ == Weights::multinomial) {
    for (std::size_t i = 0; i < rows.size(); ++i) weights[i] = drawn_[rows_->group(rows[i])];
    return;
  }
  std::uint64_t keys[kTile] = {};
  for (std::size_t i = 0; i < rows.size(); ++i) keys[i] = rows_->group_key(rows[i]);
  draw_poisson(keys, weights);
}

void ResampleBlock::draw_poisson(const std::uint64_t* keys, Tile& weights) const {
  draw_poisson_tile(seed_, block_, keys, weights);
}

void draw_poisson_tile(std::uint64_t seed, std::size_t block, const std::uint64_t* keys, ResampleBlock::Tile& weights) {
  std::uint32_t words[4 * kTile];
  philox_tile(keys, static_cast<std::uint32_t>(block), seed, words);
  static_assert(sizeof(words) == sizeof(ResampleBlock::Tile));
  std::memcpy(weights.data(), words, sizeof(ResampleBlock::Tile));
  poisson_tile(weights[0].data());
}

}  // namespace dfcl::evaluate
