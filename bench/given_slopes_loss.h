// SPDX-License-Identifier: Apache-2.0
//
// A loss whose gradient was worked out beforehand for a whole batch, because it does not part by rows (FD, eq. 11): it
// hands each row of a tile the slopes of its unit. For callers that see a batch at once; costs one read of the slopes.
#pragma once

#include "dfcl/loss/loss.h"

namespace dfcl::bench {

// d(sum of the losses of a batch) / d prediction. Units that are not in the batch are not looked at.
struct GivenSlopes {
  core::MatrixView<const float> revenue;  // units x arms
  core::MatrixView<const float> cost;     // units x arms
  double value = 0.0;                     // of the loss, a row
};

// Rows must say which units they are.
class GivenSlopesLoss final : public loss::Loss<float> {
 public:
  // The slopes must outlive the loss and may be changed between batches.
  explicit GivenSlopesLoss(const GivenSlopes& slopes) : slopes_(slopes) {}
  double add_gradient(const loss::Rows<float>& rows, std::span<const double> totals, double scale,
                      loss::Gradient<float> gradient) const override;

 private:
  const GivenSlopes& slopes_;
};

}  // namespace dfcl::bench
