// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/remarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfcl/core/count_text.h"

namespace dfcl::model {
namespace {

void add_loss(std::vector<std::string>& lines, const char* outcome, const HeldOut& held,
              const HeldOut::Outcome& figures) {
  if (!(figures.loss > figures.loss_of_means)) return;
  lines.push_back(
      fmt::format("{} is not learned: on {} {} units the prediction loss is no lower than that of the arms' means, "
                  "{:.4g} against {:.4g}",
                  outcome, core::count_text(held.num_units), held.out_of_fold ? "held-out" : "validation", figures.loss,
                  figures.loss_of_means));
}

void add_slope(std::vector<std::string>& lines, const char* outcome, const learn::Calibration::Outcome& figures) {
  if (figures.is_known() || !figures.is_unsupported()) return;
  const auto number = [](double slope) {
    return std::abs(slope) < 10.0 ? fmt::format("{:.2g}", slope) : fmt::format("{:.0f}", slope);
  };
  lines.push_back(
      fmt::format("held-out units do not show that effects on {} differ between units as predicted: slope "
                  "{} ({} to {}), 1 would be full support",
                  outcome, number(figures.found_slope), number(figures.found_slope - 1.96 * figures.slope_error),
                  number(figures.found_slope + 1.96 * figures.slope_error)));
}

// The plan at half of the largest spend stands for all.
void add_promise(std::vector<std::string>& lines, const data::EvaluatedPlans& evaluated) {
  const double middle = 0.5 * (evaluated.plans.front().spend + evaluated.plans.back().spend);
  const auto plan = std::lower_bound(evaluated.plans.begin(), evaluated.plans.end(), middle,
                                     [](const data::EvaluatedPlan& one, double at) { return one.spend < at; });
  const core::Interval revenue = core::normal_interval(plan->revenue, plan->revenue_error, 0.95);
  if (!(plan->predicted > revenue.high)) return;
  lines.push_back(fmt::format(
      "plans promise more than they are worth: at {:.4g} per unit predicted {:.4g} of revenue over control, "
      "on {} units it had not seen worth {:.4g} ({:.4g} to {:.4g})",
      plan->spend, plan->predicted, core::count_text(evaluated.num_units), revenue.value, revenue.low, revenue.high));
}

}  // namespace

std::vector<std::string> learning_remarks(const Model& model) {
  std::vector<std::string> lines;
  if (model.held_out) {
    add_loss(lines, "revenue", *model.held_out, model.held_out->revenue);
    if (model.held_out->cost) add_loss(lines, "cost", *model.held_out, *model.held_out->cost);
  }
  if (model.calibration) {
    add_slope(lines, "revenue", model.calibration->revenue);
    add_slope(lines, "cost", model.calibration->cost);
  }
  if (model.evaluated && !model.is_index()) add_promise(lines, *model.evaluated);
  return lines;
}

}  // namespace dfcl::model
