// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/arm_spends.h"

#include <algorithm>

#include "dfcl/allocate/exact_sum.h"
#include "dfcl/core/error.h"
#include "dfcl/core/parallel.h"

namespace dfcl::allocate {
namespace {

ArmSpends spends_of(std::size_t num_units, const std::vector<ExactSum>& sums, const std::vector<double>& price) {
  ArmSpends result{num_units, {}};
  for (std::size_t arm = 0; arm < sums.size(); ++arm) {
    result.spend.push_back(price.empty() ? sums[arm].value() : static_cast<double>(num_units) * price[arm]);
  }
  return result;
}

}  // namespace

ArmSpends arm_spends(core::MatrixView<const float> cost, const std::vector<double>& price, core::RunContext& context) {
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
  return spends_of(cost.rows, sums, price);
}

ArmSpends arm_spends(data::BatchSource& source, const std::vector<std::string>& arms, const std::vector<double>& price,
                     core::RunContext& context) {
  std::vector<std::size_t> columns;
  for (const std::string& arm : arms) {
    const auto& infos = source.columns();
    const auto found =
        std::find_if(infos.begin(), infos.end(), [&](const auto& info) { return info.name == "cost_" + arm; });
    if (found == infos.end()) throw core::Error({.what = "a stream without column cost_" + arm});
    columns.push_back(static_cast<std::size_t>(found - infos.begin()));
  }
  std::size_t num_units = 0;
  std::vector<ExactSum> sums(arms.size());
  source.rewind();
  data::Batch batch;
  while (source.next(batch)) {
    context.check_cancelled();
    for (std::size_t arm = 0; arm < arms.size(); ++arm) {
      for (const float value : std::get<std::vector<float>>(batch.columns[columns[arm]])) sums[arm].add(value);
    }
    num_units += batch.num_rows;
  }
  return spends_of(num_units, sums, price);
}

}  // namespace dfcl::allocate
