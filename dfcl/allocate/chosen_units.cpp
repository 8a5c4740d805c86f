// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/chosen_units.h"

#include <algorithm>
#include <numeric>

#include "dfcl/allocate/passes.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/parallel.h"

namespace dfcl::allocate {
namespace {

constexpr std::size_t kChunkUnits = 8192;

template <class T>
core::Matrix<T> chosen_rows(core::MatrixView<const T> matrix, const std::vector<std::uint32_t>& units,
                            core::RunContext& context) {
  if (matrix.data == nullptr) return {};
  core::Matrix<T> rows(units.size(), matrix.cols);
  core::for_each_chunk(context, units.size(), kChunkUnits, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t place = begin; place < end; ++place)
      std::copy_n(matrix.data + units[place] * matrix.cols, matrix.cols, rows.data() + place * matrix.cols);
  });
  return rows;
}

}  // namespace

ChosenUnits::ChosenUnits(const Problem& whole, std::vector<std::uint32_t> units, core::RunContext& context)
    : units_(std::move(units)) {
  if (whole.keys.empty()) {
    std::sort(units_.begin(), units_.end());
  } else {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> keyed(units_.size());
    core::for_each_chunk(context, units_.size(), kChunkUnits, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t place = begin; place < end; ++place) keyed[place] = {whole.keys[units_[place]], units_[place]};
    });
    std::sort(keyed.begin(), keyed.end());
    for (std::size_t place = 0; place < keyed.size(); ++place) units_[place] = keyed[place].second;
  }
  revenue_ = chosen_rows(whole.revenue, units_, context);
  cost_ = chosen_rows(whole.cost, units_, context);
  eligible_ = chosen_rows(whole.eligible, units_, context);
  second_ = chosen_rows(whole.second.cost, units_, context);
  if (!whole.segments.of_unit.empty()) {
    segment_.reserve(units_.size());
    for (const std::uint32_t unit : units_) segment_.push_back(whole.segments.of_unit[unit]);
  }
  problem_ = whole;
  problem_.keys = {};
  problem_.revenue = std::as_const(revenue_).view();
  problem_.cost = std::as_const(cost_).view();
  if (whole.eligible.data != nullptr) problem_.eligible = std::as_const(eligible_).view();
  if (whole.second.cost.data != nullptr) problem_.second.cost = std::as_const(second_).view();
  problem_.segments.of_unit = segment_;
}

std::vector<std::uint32_t> every_unit(const Problem& problem) {
  std::vector<std::uint32_t> units(problem.num_units());
  std::iota(units.begin(), units.end(), 0u);
  return units;
}

std::vector<std::uint32_t> sample_units(const Problem& problem, std::size_t size, core::RunContext& context) {
  const std::size_t num_units = problem.num_units();
  if (num_units <= 2 * size) return every_unit(problem);
  const double share = static_cast<double>(size) / static_cast<double>(num_units);
  const auto end_of_sample = static_cast<std::uint64_t>(share * 0x1p64);
  std::vector<std::vector<std::uint32_t>> parts(kParts);
  context.pool.run(kParts, [&](std::size_t part) {
    const std::size_t end = part_begin(num_units, part + 1);
    for (std::size_t unit = part_begin(num_units, part); unit < end; ++unit) {
      const std::uint64_t key = problem.keys.empty() ? unit : problem.keys[unit];
      if (core::mix_bits(key + 0x9e3779b97f4a7c15u) < end_of_sample)
        parts[part].push_back(static_cast<std::uint32_t>(unit));
    }
  });
  std::vector<std::uint32_t> units;
  for (const auto& part : parts) units.insert(units.end(), part.begin(), part.end());
  return units.size() < size / 2 || units.size() > 2 * size ? every_unit(problem) : units;
}

}  // namespace dfcl::allocate
