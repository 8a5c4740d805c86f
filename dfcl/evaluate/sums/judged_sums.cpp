// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/sums/judged_sums.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "dfcl/core/bytes.h"
#include "dfcl/core/for_each_processor.h"
#include "dfcl/data/arms.h"
#include "dfcl/evaluate/estimators/resample.h"

namespace dfcl::evaluate {
namespace {

constexpr std::uint64_t kSumLetters = 0x316d757366636664u;  // "dfcfsum1"
constexpr std::size_t kTileRows = ResampleBlock::kTile;
// Whole numbers of 41 bits, times weights of at most 5, in so many rows: float64 adds them without rounding.
constexpr int kBits = 41;
constexpr std::size_t kRows = 512;
static_assert(kRows % kTileRows == 0);
constexpr std::size_t kMostPlans = 1'000'000;
constexpr std::size_t kMostResamples = 1'000'000;

// A row's contribution under a plan, in whole numbers, and the arm that it received.
struct WholeRow {
  double revenue, cost, weight;
  std::uint32_t received;
  std::uint32_t row;
};

// Sums of one plan in one block of resamples: arms x (revenue, cost, weight) x lanes.
DFCL_FOR_EACH_PROCESSOR
void add_rows(const WholeRow* rows, std::size_t count, const double* times, double* sums) {
  for (std::size_t i = 0; i < count; ++i) {
    const WholeRow row = rows[i];
    const double* of_row = times + row.row * kLanes;
    double* into = sums + row.received * 3 * kLanes;
    for (std::size_t lane = 0; lane < kLanes; ++lane) into[lane] += of_row[lane] * row.revenue;
    for (std::size_t lane = 0; lane < kLanes; ++lane) into[kLanes + lane] += of_row[lane] * row.cost;
    for (std::size_t lane = 0; lane < kLanes; ++lane) into[2 * kLanes + lane] += of_row[lane] * row.weight;
  }
}

void draw_times(std::uint64_t seed, std::size_t block, std::span<const std::uint64_t> keys, double* times) {
  ResampleBlock::Tile weights;
  for (std::size_t first = 0; first < keys.size(); first += kTileRows) {
    const std::size_t count = std::min(kTileRows, keys.size() - first);
    std::uint64_t of_tile[kTileRows] = {};
    std::copy_n(keys.data() + first, count, of_tile);
    draw_poisson_tile(seed, block, of_tile, weights);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        times[(first + i) * kLanes + lane] = static_cast<double>(static_cast<int>(weights[i][lane]));
    }
  }
}

double to_number(WholeSum sum, std::int32_t place) { return std::ldexp(static_cast<double>(sum), -place); }

}  // namespace

std::int32_t place_of(double largest) {
  int exponent = 0;
  if (largest > 0.0) std::frexp(largest, &exponent);  // largest <= 2^exponent
  return kBits - exponent;
}

void SumShape::save(core::ByteWriter& bytes) const {
  bytes.write_count(num_plans);
  bytes.write_count(num_arms);
  bytes.write_count(num_resamples);
  bytes.write(seed);
  bytes.write(static_cast<std::uint8_t>(has_weights ? 1 : 0));
  bytes.write(revenue_place);
  bytes.write(cost_place);
  bytes.write(weight_place);
}

SumShape SumShape::load(core::ByteReader& bytes) {
  SumShape shape;
  shape.num_plans = bytes.read<std::uint64_t>();
  shape.num_arms = bytes.read<std::uint64_t>();
  shape.num_resamples = bytes.read<std::uint64_t>();
  bytes.require(shape.num_plans <= kMostPlans && shape.num_arms >= 2 && shape.num_arms <= data::kMostArms &&
                    shape.num_resamples <= kMostResamples,
                "sums of a shape that cannot be");
  shape.seed = bytes.read<std::uint64_t>();
  const auto has_weights = bytes.read<std::uint8_t>();
  shape.has_weights = has_weights == 1;
  shape.revenue_place = bytes.read<std::int32_t>();
  shape.cost_place = bytes.read<std::int32_t>();
  shape.weight_place = bytes.read<std::int32_t>();
  const auto is_place = [](std::int32_t place) { return place > -1200 && place < 1200; };
  bytes.require(
      has_weights <= 1 && is_place(shape.revenue_place) && is_place(shape.cost_place) && is_place(shape.weight_place),
      "sums of a shape that cannot be");
  return shape;
}

JudgedSums::JudgedSums(const SumShape& shape)
    : shape_(shape), num_series_(1 + (shape.num_resamples + kLanes - 1) / kLanes * kLanes) {
  sums_.resize((shape.num_plans * shape.num_arms * quantities() + shape.num_arms) * num_series_);
}

void JudgedSums::add(const Rewards& rewards, std::span<const std::uint64_t> keys,
                     const std::vector<std::vector<std::uint8_t>>& plans) {
  const std::vector<std::uint8_t>& received = rewards.rows().arm;
  std::vector<std::vector<WholeRow>> rows(shape_.num_plans);
  std::vector<double> times(kRows * kLanes);
  std::vector<double> sums(shape_.num_arms * 3 * kLanes);
  std::vector<std::array<double, kLanes>> units(shape_.num_arms);
  const auto whole = [](double number, std::int32_t place) { return std::nearbyint(std::ldexp(number, place)); };
  // Adds the sums of a block to the series that begins at `first`.
  const auto flush = [&](std::size_t plan, std::size_t first, std::size_t lanes) {
    for (std::size_t arm = 0; arm < shape_.num_arms; ++arm) {
      for (std::size_t quantity = 0; quantity < quantities(); ++quantity) {
        const double* from = sums.data() + (arm * 3 + quantity) * kLanes;
        WholeSum* into = series_of(cell(plan, arm), quantity) + first;
        for (std::size_t lane = 0; lane < lanes; ++lane) into[lane] += static_cast<std::int64_t>(from[lane]);
      }
    }
    std::fill(sums.begin(), sums.end(), 0.0);
  };
  for (std::size_t begin = 0; begin < keys.size(); begin += kRows) {
    const std::size_t count = std::min(kRows, keys.size() - begin);
    for (std::size_t plan = 0; plan < plans.size(); ++plan) {
      rows[plan].clear();
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t row = begin + i;
        const std::uint8_t arm = plans[plan][row];
        if (!rewards.is_mean() && arm != received[row]) continue;  // it contributes nothing
        const Contribution one = rewards.of(row, arm);
        rows[plan].push_back({whole(one.revenue, shape_.revenue_place), whole(one.cost, shape_.cost_place),
                              shape_.has_weights ? whole(one.weight, shape_.weight_place) : 0.0, received[row],
                              static_cast<std::uint32_t>(i)});
      }
    }
    for (std::size_t series = 0; series < num_series_; series += series == 0 ? 1 : kLanes) {
      const std::size_t lanes = series == 0 ? 1 : kLanes;
      if (series == 0) {
        std::fill(times.begin(), times.end(), 1.0);
      } else {
        draw_times(shape_.seed, (series - 1) / kLanes, keys.subspan(begin, count), times.data());
      }
      for (auto& of_arm : units) of_arm.fill(0.0);
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) units[received[begin + i]][lane] += times[i * kLanes + lane];
      }
      for (std::size_t arm = 0; arm < shape_.num_arms; ++arm) {
        for (std::size_t lane = 0; lane < lanes; ++lane)
          units_of(arm)[series + lane] += static_cast<std::int64_t>(units[arm][lane]);
      }
      for (std::size_t plan = 0; plan < plans.size(); ++plan) {
        add_rows(rows[plan].data(), rows[plan].size(), times.data(), sums.data());
        flush(plan, series, lanes);
      }
    }
  }
}

void JudgedSums::merge(const JudgedSums& other) {
  for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += other.sums_[i];
}

std::string JudgedSums::to_bytes() const {
  core::ByteWriter bytes;
  bytes.write(kSumLetters);
  shape_.save(bytes);
  // Most plans give an arm to few or to nobody of those who received another: series of zeros are left out.
  for (std::size_t begin = 0; begin < sums_.size(); begin += num_series_) {
    const auto* series = sums_.data() + begin;
    const bool is_there = std::any_of(series, series + num_series_, [](WholeSum sum) { return sum != 0; });
    bytes.write(static_cast<std::uint8_t>(is_there ? 1 : 0));
    for (std::size_t i = 0; is_there && i < num_series_; ++i) bytes.write(series[i]);
  }
  return std::move(bytes).seal();
}

JudgedSums JudgedSums::from_bytes(std::string_view text, const SumShape& shape) {
  core::ByteReader bytes(text, "sums of plans");
  bytes.unseal();
  bytes.require(bytes.read<std::uint64_t>() == kSumLetters, "these bytes are no sums of plans");
  bytes.require(SumShape::load(bytes) == shape, "sums of other plans");
  JudgedSums sums(shape);
  for (std::size_t begin = 0; begin < sums.sums_.size(); begin += sums.num_series_) {
    const auto is_there = bytes.read<std::uint8_t>();
    bytes.require(is_there <= 1, "sums that cannot be");
    for (std::size_t i = 0; is_there == 1 && i < sums.num_series_; ++i) sums.sums_[begin + i] = bytes.read<WholeSum>();
  }
  bytes.end();
  return sums;
}

double JudgedSums::revenue(std::size_t plan, std::size_t arm, std::size_t series) const {
  return to_number(series_of(cell(plan, arm), 0)[series], shape_.revenue_place);
}

double JudgedSums::cost(std::size_t plan, std::size_t arm, std::size_t series) const {
  return to_number(series_of(cell(plan, arm), 1)[series], shape_.cost_place);
}

double JudgedSums::weight(std::size_t plan, std::size_t arm, std::size_t series) const {
  return to_number(series_of(cell(plan, arm), 2)[series], shape_.weight_place);
}

double JudgedSums::units(std::size_t arm, std::size_t series) const {
  return static_cast<double>(units_of(arm)[series]);
}

}  // namespace dfcl::evaluate
