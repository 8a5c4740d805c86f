// SPDX-License-Identifier: Apache-2.0
//
// Visits and conversions of users shown advertising or not: 0/1 outcomes whose chances, and whose answer to
// the advertising, depend on twelve drivers through one of three families of functions. A conversion needs a visit.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "dfcl/simulate/options.h"
#include "dfcl/simulate/split_tree.h"

namespace dfcl::simulate {

inline constexpr std::size_t kNumUserFeatures = 12;
// How far each feature is from its usual value: 0 at it, else .2 to 1.
using UserDrivers = std::array<double, kNumUserFeatures>;

// On the logit scale, before the constants that set the published rates. Lifts are in 0 to 1.
struct VisitScores {
  double visit = 0.0;
  double conversion = 0.0;  // of a visitor
  double visit_lift = 0.0;
  double conversion_lift = 0.0;
};

// logit = constant + score, and treated units add scale x lift.
struct VisitConstants {
  double visit;
  double conversion;
  double visit_scale;
  double conversion_scale;
};

struct VisitChances {
  std::array<double, 2> visit;       // by arm
  std::array<double, 2> conversion;  // by arm, of a visitor
};

class VisitResponse {
 public:
  explicit VisitResponse(Response family);

  VisitScores scores(const UserDrivers& drivers) const;
  VisitChances chances(const VisitScores& scores, const VisitConstants& constants) const;
  // The constants that give visits of 3.8 and 4.9 % and conversions of .19 and .31 %, control and treated.
  const VisitConstants& published_rates() const;

 private:
  Response family_;
  SplitTree tree_;
  std::vector<VisitScores> leaves_;
};

}  // namespace dfcl::simulate
