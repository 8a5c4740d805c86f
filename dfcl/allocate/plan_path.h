// SPDX-License-Identifier: Apache-2.0
//
// The path of best plans of a problem with its rules: what any budget buys, who gets what there, and the curve of all
// of it. Built once, asked as often as you like; allocate(), the curve, evaluation and pages all ask this one object,
// so the plan that is judged is the plan that is shipped, limits and the filling of what the cut leaves included. Units
// come from matrices or from a stream, through the same code and to the same bytes.
//
// Cost, for ten million units x 5 arms on two threads: the first budget of a path in memory is solved directly (one
// read of the matrices). The second builds the path: about 1.2 s, and 0.4 x the predictions of memory (they and
// the path together stay below 1.6 x the predictions; Form::one_budget saves it). Every budget after that takes
// milliseconds, its arms one more read of the matrices. A curve takes two passes over the units for all of its points.
// Fewer than 100,000 units are sorted. A stream is read once to build, once for each budget, and twice for a curve; it
// takes one batch and 5 MB a thread. With limits that tie units to each other (segments, a second cost, units per arm)
// every budget is solved on its own (solve.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dfcl/allocate/path_forms.h"
#include "dfcl/allocate/path_scans.h"
#include "dfcl/allocate/segment_paths.h"

namespace dfcl::allocate {

// A plan of the path.
struct PathPlan {
  Solution summary;                        // its arms are empty unless they were found on the way: ask arms()
  PathCut cut;                             // of no meaning for limits that tie units to each other
  std::vector<PathCut> segment_cuts = {};  // of units elsewhere with budgets of segments
};

// Some units with their arms.
struct PlannedUnits {
  const Units& units;
  std::span<const std::uint8_t> arm;
  const data::Batch* batch = nullptr;  // of a stream

  std::size_t size() const { return arm.size(); }
  float revenue(std::size_t row) const { return units.revenue(row, arm[row]); }
  float cost(std::size_t row) const { return units.cost(row, arm[row]); }
};
using PlanSink = std::function<void(const PlannedUnits&)>;

class PlanPath {
 public:
  enum class Form : std::uint8_t {
    automatic,
    sorted,      // keeps every increment: for those who walk the path
    bucketed,    // whatever the number of units
    one_budget,  // automatic, but without the lists of units that make further budgets fast: 0.4 x the predictions less
  };

  // Of matrices, which must outlive the path. Throws Error of kind usage where the problem is malformed.
  explicit PlanPath(const Problem& problem, Form form = Form::automatic);
  // Of a stream with the columns revenue_<arm> and cost_<arm> for every arm; it may have eligible_<arm> (0: no) and
  // `id`, which decides between equals. Numbers may be of any type and are read as float32. The source and the context
  // must outlive the path.
  PlanPath(data::BatchSource& source, const std::vector<std::string>& arms, const Rules& rules,
           core::RunContext& context);
  // Of units elsewhere: whoever has them is asked for passes. Its plans are delivered there (PathCut::to_bytes,
  // assign).
  PlanPath(PassRunner runner, std::size_t num_arms, const Rules& rules);
  // The same with budgets of segments: plans at budgets only.
  PlanPath(std::unique_ptr<SegmentPaths> segments, std::size_t num_arms, const Rules& rules);
  ~PlanPath();
  PlanPath(PlanPath&&) noexcept;

  // The best plan that spends at most budget_total (kNoBudget: no limit). A budget that cannot be met is a status.
  // Throws Error of kind data where a number is not finite or a unit may get no arm (details().where is "unit 17",
  // counted from 0).
  PathPlan at_budget(double budget_total, core::RunContext& context);
  // The plan at a known price: every unit takes its increments of more than `multiplier` value per cost. With the
  // multiplier of a plan at a budget it never spends more than that budget.
  PathPlan at_multiplier(double multiplier, core::RunContext& context);
  // The plans at num_points budgets, evenly spaced from the least to the most that is worth spending.
  Curve curve(std::size_t num_points, core::RunContext& context);
  // What the path begins and ends with.
  const PathEnds& ends(core::RunContext& context);
  // All increments in path order; only of a sorted path.
  std::span<const Increment> increments(core::RunContext& context);

  // Hands out the plan in row order: pieces of the matrices, or the batches of the stream.
  void deliver(const PathPlan& plan, const PlanSink& sink, core::RunContext& context);
  // The arm of each unit; only of matrices.
  std::vector<std::uint8_t> arms(const PathPlan& plan, core::RunContext& context) const;

  const Rules& rules() const { return rules_; }
  // Units in pieces: null for units elsewhere.
  UnitPieces* pieces() const { return pieces_.get(); }

 private:
  PathForm& form(core::RunContext& context);
  bool is_coupled() const;
  bool keeps_increments() const;  // all of them, sorted
  std::unique_ptr<PathForm> bucketed(bool keep_lists, core::RunContext& context) const;

  Rules rules_;
  std::unique_ptr<Problem> problem_;        // null for a stream
  std::unique_ptr<UnitPieces> pieces_;      // null for units elsewhere
  PassRunner runner_;                       // of units elsewhere
  std::unique_ptr<SegmentPaths> segments_;  // of units elsewhere; null without segments
  std::size_t num_arms_ = 0;
  Form wanted_ = Form::automatic;
  std::unique_ptr<PathForm> form_;  // null until it is needed
  bool asked_ = false;              // for a budget
};

}  // namespace dfcl::allocate
