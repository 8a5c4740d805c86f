// SPDX-License-Identifier: Apache-2.0
#include "given_slopes_loss.h"

#include "dfcl/core/error.h"

namespace dfcl::bench {

double GivenSlopesLoss::add_gradient(const loss::Rows<float>& rows, std::span<const double>, double scale,
                                     loss::Gradient<float> gradient) const {
  if (rows.unit.size() != rows.num_rows()) throw core::Error({.what = "rows that do not say which units they are"});
  const auto factor = static_cast<float>(scale);
  for (std::size_t row = 0; row < rows.num_rows(); ++row) {
    const std::size_t unit = rows.unit[row];
    for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
      gradient.revenue(row, arm) += factor * slopes_.revenue(unit, arm);
      gradient.cost(row, arm) += factor * slopes_.cost(unit, arm);
    }
  }
  return slopes_.value * static_cast<double>(rows.num_rows());
}

}  // namespace dfcl::bench
