// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/costliest_arm.h"

#include <algorithm>

#include "dfcl/allocate/exact_sum.h"
#include "dfcl/core/error.h"
#include "dfcl/core/parallel.h"

namespace dfcl::allocate {
namespace {

double largest(const std::vector<ExactSum>& sums) {
  double most = sums.front().value();
  for (const ExactSum& sum : sums) most = std::max(most, sum.value());
  return most;
}

}  // namespace

CostliestArm costliest_arm(core::MatrixView<const float> cost, core::RunContext& context) {
  constexpr std::size_t kChunk = std::size_t{1} << 18;
  const std::vector<ExactSum> sums = core::sum_chunks(
      context, cost.rows, kChunk, std::vector<ExactSum>(cost.cols),
      [&](std::size_t begin, std::size_t end) {
        std::vector<ExactSum> part(cost.cols);
        for (std::size_t unit = begin; unit < end; ++unit) {
          for (std::size_t arm = 0; arm < cost.cols; ++arm) part[arm].add(cost(unit, arm));
        }
        return part;
      },
      [](std::vector<ExactSum>& total, const std::vector<ExactSum>& part) {
        for (std::size_t arm = 0; arm < total.size(); ++arm) total[arm].add(part[arm]);
      });
  return {cost.rows, largest(sums)};
}

CostliestArm costliest_arm(data::BatchSource& source, const std::vector<std::string>& arms, core::RunContext& context) {
  std::vector<std::size_t> columns;
  for (const std::string& arm : arms) {
    const auto& infos = source.columns();
    const auto found =
        std::find_if(infos.begin(), infos.end(), [&](const auto& info) { return info.name == "cost_" + arm; });
    if (found == infos.end()) throw core::Error({.what = "a stream without column cost_" + arm});
    columns.push_back(static_cast<std::size_t>(found - infos.begin()));
  }
  CostliestArm result;
  std::vector<ExactSum> sums(arms.size());
  source.rewind();
  data::Batch batch;
  while (source.next(batch)) {
    context.check_cancelled();
    for (std::size_t arm = 0; arm < arms.size(); ++arm) {
      for (const float value : std::get<std::vector<float>>(batch.columns[columns[arm]])) sums[arm].add(value);
    }
    result.num_units += batch.num_rows;
  }
  result.spend = largest(sums);
  return result;
}

}  // namespace dfcl::allocate
