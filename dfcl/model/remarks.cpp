// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/remarks.h"

#include <fmt/format.h>

namespace dfcl::model {
namespace {

void add_loss(std::vector<std::string>& lines, const char* outcome, const HeldOut& held,
              const HeldOut::Outcome& figures) {
  if (!(figures.loss > figures.loss_of_means)) return;
  lines.push_back(fmt::format(
      "{} is not learned: on {} {} units the prediction loss is {:.4g}, that of the arms' means "
      "{:.4g}",
      outcome, held.num_units, held.out_of_fold ? "held-out" : "validation", figures.loss, figures.loss_of_means));
}

void add_slope(std::vector<std::string>& lines, const char* outcome, const learn::Calibration::Outcome& figures) {
  if (figures.is_known() || !figures.is_unsupported()) return;
  lines.push_back(
      fmt::format("held-out units do not show that effects on {} differ between units as predicted: slope "
                  "{:.2g} ({:.2g} to {:.2g}), 1 would be full support",
                  outcome, figures.found_slope, figures.found_slope - 1.96 * figures.slope_error,
                  figures.found_slope + 1.96 * figures.slope_error));
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
  return lines;
}

}  // namespace dfcl::model
