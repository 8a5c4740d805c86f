// SPDX-License-Identifier: Apache-2.0
//
// Were the features alike in all arms before the trial? Each feature alone, and all together. Made once, asked twice:
// the features first, then the joint test without those that turned out to be consequences of the arm. Costs:
// covariance.h, joint_test.h.
#pragma once

#include <vector>

#include "dfcl/check/check.h"
#include "dfcl/check/covariance.h"
#include "dfcl/check/draws.h"
#include "dfcl/check/expansion.h"
#include "dfcl/check/joint_test.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/trial.h"

namespace dfcl::check {

// Weights differ between units of one arm.
bool has_varying_weights(const data::Trial& trial);
std::size_t smallest_arm_of(const data::Trial& trial, const Draws& draws);

class BalanceTest {
 public:
  // The trial must outlive the test.
  BalanceTest(const data::Trial& trial, const Draws& draws, const CheckOptions& options, core::RunContext& context);
  // moments: of all rows, of which the trial is a sample; by the expansion.
  BalanceTest(const data::Trial& trial, const Draws& draws, Expansion expansion, ColumnMoments moments,
              const CheckOptions& options, core::RunContext& context);

  const std::vector<FeatureBalance>& features() const { return features_; }

  // left_out: per feature.
  Balance result(const std::vector<bool>& left_out) const;

 private:
  void test_features(const Draws& draws, const CheckOptions& options, core::RunContext& context);
  FeatureBalance feature_balance(std::size_t feature) const;
  double standardised_difference(const Expansion::Plan& plan, std::size_t column, std::size_t arm) const;
  double columns_p(const std::vector<std::size_t>& columns, JointTest* joint) const;
  double smallest_p(const std::vector<std::size_t>& columns) const;

  const data::Trial& trial_;
  Expansion expansion_;
  BalanceMethod method_ = BalanceMethod::joint;
  ColumnMoments moments_;
  std::vector<double> covariance_;  // columns x columns; joint only
  std::vector<FeatureBalance> features_;
};

}  // namespace dfcl::check
