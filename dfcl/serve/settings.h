// SPDX-License-Identifier: Apache-2.0
//
// What the reader of the served page asks for: one problem to solve. Read from a request that may come from anywhere:
// strict JSON, known keys only, every number in its range, at most a few levels deep. A few hundred bytes each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dfcl/allocate/allocate.h"

namespace dfcl::serve {

inline constexpr std::size_t kMostRequestBytes = 65'536;

struct Settings {
  double budget = allocate::kNoBudget;  // spend above everyone in control
  allocate::Objective objective = allocate::Objective::revenue;
  double worth = 1.0;  // of one unit of revenue
  double min_roi = 0.0;
  std::vector<std::int64_t> min_units = {};    // per arm; empty: no limits
  std::vector<std::int64_t> max_units = {};    // per arm; -1: none; empty: no limits
  std::vector<double> segment_budgets = {};    // above control, per segment; kNoBudget: none; empty: no budgets
  double second_budget = allocate::kNoBudget;  // of the second resource
  bool keep_eligibility = true;

  // Limits that tie units to each other beyond one budget.
  bool is_coupled() const {
    return !min_units.empty() || !max_units.empty() || !segment_budgets.empty() || second_budget != allocate::kNoBudget;
  }
  bool operator==(const Settings&) const = default;
};

// What settings may speak of.
struct Scope {
  std::size_t num_arms = 0;
  std::size_t num_segments = 0;
  bool has_second = false;
};

struct SolveRequest {
  Settings settings;
  bool pin = false;  // later answers say who changes from this one
};

// Throws Error of kind usage that names the key.
SolveRequest read_request(const std::string& text, const Scope& scope);

}  // namespace dfcl::serve
