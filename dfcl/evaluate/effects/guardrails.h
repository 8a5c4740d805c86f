// SPDX-License-Identifier: Apache-2.0
//
// What plans do to further outcomes of which more is worse (refunds, complaints), by the estimator of the evaluation
// and with intervals from influence functions. The doubly robust estimator needs a prediction of the outcome: a line in
// the nuisance's revenue and cost for each arm, fitted on the other half of the rows (groups stay together), so that no
// row's prediction has seen it. Internal to the room. Time: three passes over the rows a plan and guardrail. Memory:
// about 45 bytes a row and guardrail, and 4 x arms with the doubly robust estimator.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/evaluate/estimators/influence.h"
#include "dfcl/evaluate/evaluation.h"
#include "dfcl/evaluate/words.h"

namespace dfcl::evaluate {

// Of one plan and guardrail, over everyone in control; per unit.
struct GuardrailEstimate {
  double increment = 0.0;
  double deviation = 0.0;
  double relative = 0.0;  // share of control's mean
  double relative_deviation = 0.0;
};

class Guardrails {
 public:
  // nuisance: of revenue and cost, for the doubly robust estimator. Rows must outlive this.
  Guardrails(const TrialRows& rows, Estimator estimator, const Outcomes& nuisance, core::RunContext& context);

  std::size_t size() const { return guarded_.size(); }
  // Per guardrail. plan: the arm of each row.
  std::vector<GuardrailEstimate> estimates(std::span<const std::uint8_t> plan, core::RunContext& context) const;
  // Of a plan that gives random units each arm, by its shares, on average over all draws.
  std::vector<GuardrailEstimate> estimates_of_mix(std::span<const double> share_per_arm,
                                                  core::RunContext& context) const;
  // In words. critical: of the ends that hold at once.
  std::vector<GuardrailFigures> figures(const std::vector<GuardrailEstimate>& estimates, double critical, double level,
                                        const Words& words) const;

 private:
  struct Guarded {
    TrialRows rows;                // with the guardrail in the place of revenue and cost
    core::Matrix<float> nuisance;  // rows x arms; empty unless doubly robust
    double control = 0.0;
    double control_deviation = 0.0;
    Series control_series = {};
  };
  Rewards rewards_of(const Guarded& guarded) const;
  static GuardrailEstimate over_control(const Guarded& guarded, double value, const Series& series);

  Estimator estimator_;
  std::vector<std::string> names_;
  std::deque<Guarded> guarded_;
};

// Sets answer and sentence by the simultaneous ends. relative: the same as a share of control; NaN: not to be shown.
void say_guardrail(GuardrailFigures& figures, const Interval& relative, double level, const Words& words);

// The guardrails of a plan in a sentence: "returns: +0.3 % (95 % interval -0.2 to 0.8): not shown". "": there are none.
std::string guardrail_words(const std::vector<GuardrailFigures>& guardrails);

bool harms(const std::vector<GuardrailFigures>& guardrails);

}  // namespace dfcl::evaluate
