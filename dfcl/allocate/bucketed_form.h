// SPDX-License-Identifier: Apache-2.0
//
// The path in buckets: what PlanPath keeps of many units. It asks for passes over the units (path_scans.h), wherever
// they are, and knows of them only what passes find. Takes one pass to build and about 5 MB a thread (at most 8). With
// lists of the units in each bucket a budget of ten million units in memory then takes some 2 ms. Without them all
// budgets of a call together take a pass, further ones only where a million increments are nearly equal, where there
// are very many budgets, or where the increments that fill what a cut leaves are hard to find; 48 MB of memory at most.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dfcl/allocate/path_forms.h"
#include "dfcl/allocate/path_scans.h"

namespace dfcl::allocate {

class BucketedForm final : public PathForm {
 public:
  BucketedForm(std::unique_ptr<PathScans> scans, const Rules& rules, core::RunContext& context);

  const PathEnds& ends() const override { return ends_; }
  std::vector<CutSolution> cut_at(std::span<const double> budgets, core::RunContext& context) override;
  Totals totals_at(PathPosition position, core::RunContext& context) override;

 private:
  struct Place;
  class Collected;
  class Blocks;
  PathBuckets refine(const Cell& cell, core::RunContext& context);
  Place find_place(double budget, core::RunContext& context);

  std::unique_ptr<PathScans> scans_;
  Prices prices_;
  PathEnds ends_;
  std::optional<PathBuckets> buckets_;  // none where there is no unit
  double total_spend_ = 0.0;            // rounded, of all increments
};

}  // namespace dfcl::allocate
