// SPDX-License-Identifier: Apache-2.0
//
// The list of methods: which loss, on what kind of trial, with which settings by default. A new method is its loss
// (dfcl/loss), its test and one line here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dfcl::train {

enum class DecisionLoss : std::uint8_t {
  none,         // prediction only
  policy,       // PL and MER (eq. 5, 6)
  ifd,          // eq. 8, 9
  ifd_softmax,  // eq. 10
  fd,           // eq. 11
  drm,          // eq. 12
  drp,          // eq. 13
  dpm,          // eq. 14
};

struct Method {
  const char* name;
  const char* summary;
  DecisionLoss loss = DecisionLoss::none;
  bool two_arms_only = false;
  bool ordered_arms_only = false;    // two arms are always ordered
  bool learns_efficiencies = false;  // predictions are an index, not outcomes
  bool monotone = false;             // eq. 15 on both outcomes
  bool grows_forest = false;         // forest_method.h
  // Temperature of PL and MER, window of IFD, step of FD: in units of the typical margin between the best two scores,
  // or, where not relative and as published, in scaled units.
  double temperature = 0.0;
  bool relative = true;
  double published_temperature = 0.0;

  // A decision loss joins the prediction loss.
  bool decides() const { return loss != DecisionLoss::none && !learns_efficiencies; }
  // Its setting is a window or step, not a temperature.
  bool has_window() const { return loss == DecisionLoss::ifd || loss == DecisionLoss::fd; }
};

// Every method that `train --method` knows, in the order they are listed to users.
std::span<const Method> all_methods();

// Throws Error of kind usage with "did you mean".
const Method& find_method(const std::string& name);

}  // namespace dfcl::train
