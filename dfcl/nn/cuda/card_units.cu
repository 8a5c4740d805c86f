// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/core/parallel.h"
#include "dfcl/nn/cuda/card_units.h"

namespace dfcl::nn::cuda {
namespace {

constexpr std::size_t kLoadUnits = 65'536;  // that the host prepares at a time

[[noreturn]] void refuse(const char* what) { throw core::Error({.what = what}); }

void require_rows(const TablePlan& plan, bool nuisance, core::MatrixView<const float> features,
                  const TrainingRows& data, std::span<const std::uint32_t> rows) {
  const std::size_t count = features.rows;
  if (rows.empty() || rows.size() >= std::numeric_limits<std::uint32_t>::max()) refuse("no units to load");
  bool fits = data.arm.size() == count && data.revenue.size() == count && data.cost.size() == count &&
              data.weight.size() == count;
  if (nuisance) {
    const std::size_t size = count * static_cast<std::size_t>(plan.loss.num_arms);
    fits = fits && data.nuisance_revenue.size() == size && data.nuisance_cost.size() == size &&
           (data.sample.empty() || data.sample.size() == count);
  }
  if (!fits) refuse("outcomes of another size than the features");
  if (std::ranges::any_of(rows, [&](std::uint32_t row) { return row >= count; })) refuse("rows that are not there");
}

void write_record(const TrainingRows& data, bool nuisance, std::uint32_t row, std::size_t size, float* to) {
  std::fill_n(to, size, 0.0f);
  *to++ = data.revenue[row];
  *to++ = data.cost[row];
  *to++ = data.weight[row];
  *to++ = static_cast<float>(data.arm[row]);
  if (!nuisance) return;
  to = std::ranges::copy(data.nuisance_revenue.row(row), to).out;
  to = std::ranges::copy(data.nuisance_cost.row(row), to).out;
  *to = data.sample.empty() ? 1.0f : data.sample[row];
}

}  // namespace

CardUnits load_units(const TableEncoding& encoding, const TablePlan& plan, bool nuisance,
                     core::MatrixView<const float> features, const TrainingRows& data,
                     std::span<const std::uint32_t> rows, core::RunContext& context) {
  require_rows(plan, nuisance, features, data, rows);
  const std::size_t columns = encoding.num_columns();
  const auto width = static_cast<std::size_t>(plan.record_floats);
  CardUnits units{CardArray<Lookup>(rows.size() * columns), CardArray<float>(rows.size() * width),
                  static_cast<std::uint32_t>(rows.size())};
  const std::size_t most = std::min(rows.size(), kLoadUnits);
  std::vector<Lookup> lookups(most * columns);
  std::vector<float> records(most * width);
  for (std::size_t first = 0; first < rows.size(); first += most) {
    const std::size_t count = std::min(most, rows.size() - first);
    core::for_each_chunk(context, count, 4096, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t row = rows[first + i];
        encoding.apply(features.row(row).data(), lookups.data() + i * columns);
        write_record(data, nuisance, row, width, records.data() + i * width);
      }
    });
    units.lookups.copy_from(std::span(lookups).first(count * columns), first * columns);
    units.records.copy_from(std::span(records).first(count * width), first * width);
  }
  return units;
}

}  // namespace dfcl::nn::cuda
