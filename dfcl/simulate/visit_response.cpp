// SPDX-License-Identifier: Apache-2.0
#include "dfcl/simulate/visit_response.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/random.h"
#include "dfcl/simulate/unit_model.h"

namespace dfcl::simulate {
namespace {

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

double saturating(double x) {
  const double positive = std::max(x, 0.0);
  return positive * positive / (1.0 + positive * positive);
}

VisitScores smooth_scores(const UserDrivers& d) {
  return {.visit = 2.2 * d[9] + 1.5 * d[3] + 1.6 * d[5] + 1.4 * d[4] - 1.2 * d[0] + 1.2 * d[2] * d[9] +
                   0.5 * std::sin(4.0 * d[8]),
          .conversion = 1.6 * d[4] + 1.2 * d[10] + 0.8 * d[9] - 0.7 * d[6] + 0.8 * d[3] * d[2],
          .visit_lift = saturating(1.4 * d[3] + 1.8 * d[6] * d[2] + 0.8 * d[9] - 0.3),
          .conversion_lift = saturating(1.5 * (1.0 - d[0]) + 1.6 * d[8] - 1.2 * d[3] - 0.6)};
}

VisitScores sparse_scores(const UserDrivers& d) {
  return {.visit = 3.2 * d[9] - 1.0 * d[0],
          .conversion = 1.5 * d[9],
          .visit_lift = saturating(2.0 * d[2] - 0.3),
          .conversion_lift = saturating(2.0 * (1.0 - d[0]) - 0.5)};
}

std::vector<VisitScores> draw_leaves(std::size_t num_leaves) {
  std::vector<VisitScores> leaves;
  for (std::size_t leaf = 0; leaf < num_leaves; ++leaf) {
    core::RandomStream stream(kWorldSeed, core::stream_purpose("simulate visit leaf"), leaf);
    const double visit = 1.1 * stream.normal();
    const double conversion = 0.5 * visit + 0.6 * stream.normal();
    // Two in five do not answer to the advertising.
    const double visit_lift = std::max(0.0, stream.uniform(-0.66, 1.0));
    const double conversion_lift = std::max(0.0, stream.uniform(-0.66, 1.0));
    leaves.push_back({visit, conversion, visit_lift, conversion_lift});
  }
  return leaves;
}

}  // namespace

VisitResponse::VisitResponse(Response family)
    : family_(family), tree_(5, kNumUserFeatures, 0.1, 0.7, 2), leaves_(draw_leaves(tree_.num_leaves())) {}

VisitScores VisitResponse::scores(const UserDrivers& drivers) const {
  if (family_ == Response::smooth) return smooth_scores(drivers);
  if (family_ == Response::sparse) return sparse_scores(drivers);
  return leaves_[tree_.leaf(drivers)];
}

VisitChances VisitResponse::chances(const VisitScores& scores, const VisitConstants& constants) const {
  const double visit = constants.visit + scores.visit;
  const double conversion = constants.conversion + scores.conversion;
  return {
      .visit = {logistic(visit), logistic(visit + constants.visit_scale * scores.visit_lift)},
      .conversion = {logistic(conversion), logistic(conversion + constants.conversion_scale * scores.conversion_lift)}};
}

// Found by bisection over three million units of the fixed world.
const VisitConstants& VisitResponse::published_rates() const {
  static constexpr std::array<VisitConstants, 3> kConstants = {{
      {-4.0246, -3.8797, 1.0359, 0.6812},
      {-2.3389, -3.0357, 0.9185, 0.3926},
      {-3.5980, -3.6634, 1.0127, 0.6093},
  }};
  return kConstants[static_cast<std::size_t>(family_)];
}

}  // namespace dfcl::simulate
