// SPDX-License-Identifier: Apache-2.0
//
// What training found out about a model beside the model itself: how a stack was weighed, and how its predictions did
// on units that they had not seen. For people to judge it by; nothing here changes a prediction. A few numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dfcl::model {

// The name of the member that gives every arm its mean effect for everyone (dfcl/learn/mean_effect.h).
inline constexpr const char* kMeanEffectName = "mean-effect";

// Figures are net values (eq. 20) per unit over control for everyone, at the prices of the budgets, in revenue, by
// units that the predictions had not seen. The weights were chosen on the same units.
struct StackMember {
  std::string method;
  double weight = 0.0;
  double net_value = 0.0;  // of this member alone
  double standard_error = 0.0;
  double seconds = 0.0;  // what its fits took, for the output of the run; not kept in files, which are the same anyhow
};

struct Stack {
  struct LeftOut {
    std::string method;
    std::string why;
    bool operator==(const LeftOut&) const = default;
  };
  std::size_t num_units = 0;  // judged on
  std::size_t num_folds = 0;
  std::vector<StackMember> members;
  double net_value = 0.0;  // of the stack
  double standard_error = 0.0;
  std::vector<LeftOut> left_out;
};

// Mean prediction losses (section 3 of docs/method.md) of scaled outcomes, beside those of the means of the arms.
struct HeldOut {
  struct Outcome {
    double loss = 0.0;
    double loss_of_means = 0.0;
    bool operator==(const Outcome&) const = default;
  };
  bool out_of_fold = false;  // training and validation units by fits without them; else validation units
  std::size_t num_units = 0;
  Outcome revenue;
  std::optional<Outcome> cost;  // none where costs are known
  bool operator==(const HeldOut&) const = default;
};

}  // namespace dfcl::model
