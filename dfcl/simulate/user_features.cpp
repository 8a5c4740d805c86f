// SPDX-License-Identifier: Apache-2.0
#include "dfcl/simulate/user_features.h"

#include <cmath>

#include "dfcl/core/random.h"
#include "dfcl/simulate/normals.h"

namespace dfcl::simulate {
namespace {

constexpr std::uint32_t kUserPurpose = core::stream_purpose("simulate user");

// Features that leave their usual value together: those whose score is above a bound.
struct Group {
  double bound;  // on the normal scale
  double load;   // of the score on the user's activity
};
constexpr std::array<Group, 8> kGroups = {{{-0.628, -0.5},  // f0, f6
                                           {0.055, 0.3},    // f2, f8
                                           {1.608, 0.5},    // f5, f7
                                           {1.713, 0.6},    // f4, f10
                                           {2.241, 0.4},    // f1
                                           {0.905, 0.5},    // f3
                                           {0.825, 0.6},    // f9
                                           {2.192, 0.4}}};  // f11

struct FeatureSpec {
  std::size_t group;
  double usual;
  double reach;  // from the usual value to the last
  double steps;  // 0: no steps
  double power;  // above 1: most lie near the usual value
};
constexpr std::array<FeatureSpec, kNumUserFeatures> kSpecs = {{{0, 12.616365, 14.13, 0, 0.4},
                                                               {4, 10.059654, 6.29, 20, 1.5},
                                                               {1, 8.214383, 0.837, 0, 0.6},
                                                               {5, 4.679882, -10.57, 280, 2.0},
                                                               {3, 10.280525, 9.35, 73, 2.0},
                                                               {2, 4.115453, -12.85, 38, 2.0},
                                                               {0, 0.294443, -27.1, 700, 1.6},
                                                               {2, 4.833815, 7.17, 0, 1.0},
                                                               {1, 3.971858, -0.32, 1300, 1.5},
                                                               {6, 13.190056, 53.0, 580, 2.0},
                                                               {3, 5.300375, 1.17, 0, 0.7},
                                                               {7, -0.168679, -0.83, 39, 2.0}}};

}  // namespace

User draw_user(std::uint64_t seed, std::uint64_t unit) {
  User user;
  core::RandomStream stream(seed, kUserPurpose, unit);
  Normals normals(stream);
  user.activity = normals.next();
  std::array<double, kGroups.size()> excess;
  for (std::size_t group = 0; group < kGroups.size(); ++group) {
    const double load = kGroups[group].load;
    excess[group] = load * user.activity + std::sqrt(1.0 - load * load) * normals.next() - kGroups[group].bound;
  }
  for (std::size_t i = 0; i < kNumUserFeatures; ++i) {
    const FeatureSpec& spec = kSpecs[i];
    double distance = 0.0;  // from the usual value, as a share of the reach
    if (excess[spec.group] > 0.0) {
      const double own = stream.uniform();
      const double far = 0.5 * own + 0.5 * excess[spec.group] / (0.5 + excess[spec.group]);
      distance = std::pow(far, spec.power);
      if (spec.steps > 0.0) distance = std::ceil(distance * spec.steps) / spec.steps;
      user.drivers[i] = 0.2 + 0.8 * far;
    } else {
      user.drivers[i] = 0.0;
    }
    user.values[i] = static_cast<float>(spec.usual + spec.reach * distance);
  }
  return user;
}

}  // namespace dfcl::simulate
