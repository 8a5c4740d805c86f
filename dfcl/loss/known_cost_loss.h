// SPDX-License-Identifier: Apache-2.0
//
// A decision loss where costs are known (cost_rule.h): the inner loss sees the rule's costs instead of predicted ones,
// and its gradient by cost reaches what the rule is made of, revenue or the probability of an outcome; prices have
// none. Cost: two tables of rows x arms for a tile.
#pragma once

#include <memory>

#include "dfcl/loss/cost_rule.h"
#include "dfcl/loss/loss.h"

namespace dfcl::loss {

template <class T>
class KnownCostLoss final : public Loss<T> {
 public:
  KnownCostLoss(std::unique_ptr<const Loss<T>> inner, CostRule rule)
      : inner_(std::move(inner)), rule_(std::move(rule)) {}
  double add_gradient(const Rows<T>& rows, std::span<const double> totals, double scale,
                      Gradient<T> gradient) const override;

 private:
  std::unique_ptr<const Loss<T>> inner_;
  CostRule rule_;
};

extern template class KnownCostLoss<float>;
extern template class KnownCostLoss<double>;

}  // namespace dfcl::loss
