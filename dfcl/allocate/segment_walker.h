// SPDX-License-Identifier: Apache-2.0
//
// One budget of units elsewhere in segments: looks where the cuts may lie, has the increments there collected, and
// walks them as the solver in memory does (segment_walk.h). Internal to segment_paths.cpp. Memory: what is collected,
// and 8 bytes per segment and bucket.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "dfcl/allocate/path_scans.h"
#include "dfcl/allocate/segment_walk.h"

namespace dfcl::allocate {

// Takes a pass for each segment to its units, "" where nothing is asked of it, and returns what they found, ""
// likewise.
using SegmentRunner = std::function<std::vector<std::string>(const std::vector<std::string>& passes)>;

struct SegmentPiece {
  PathEnds ends;
  PathBuckets buckets;  // of one layout for all segments
};

struct SegmentPlan {
  Solution summary;           // without arms
  std::vector<PathCut> cuts;  // per segment
};

// All must outlive the walker.
struct SegmentsToWalk {
  const std::vector<SegmentPiece>& pieces;
  const std::vector<double>& budgets;
  const PathEnds& ends;  // of all segments
  const Rules& rules;
  const Prices& prices;
  std::size_t num_arms;
  const SegmentRunner& run;
};

// What a unit took beyond the place where its segment or the total was cut.
struct FilledStep {
  FilledArm arm;
  double efficiency;  // of the last increment
};

class SegmentWalker {
 public:
  SegmentWalker(const SegmentsToWalk& of, double budget);

  // plan: with what is known without a walk.
  void solve(SegmentPlan& plan, core::RunContext& context);

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // Of one segment by itself.
  struct Profile {
    double least = 0.0;             // spent before the path
    std::vector<double> spend;      // through each bucket
    std::size_t first_cut = kNone;  // bucket in which its own budget may be cut
    bool resolved = false;          // the next two are known
    std::size_t cut_bucket = kNone;
    double at_cut = 0.0, at_end = 0.0;
  };
  // Buckets in which the total may be cut.
  struct Stretch {
    std::size_t first = kNone;
    std::size_t last = 0;
  };
  // A segment's block that has to be collected before the walk can go on.
  struct Need {
    std::size_t segment = kNone;  // kNone with a bucket: all segments
    std::size_t bucket = kNone;   // kNone: nothing
    bool any() const { return bucket != kNone; }
  };
  struct State {
    SegmentWalk walk;
    std::vector<PathPosition> start;  // per segment: all before it is taken
    std::vector<std::unordered_map<std::uint64_t, FilledStep>> filled;
  };

  std::size_t size() const { return of_.pieces.size(); }
  std::size_t num_buckets() const { return of_.pieces[0].buckets.grid().num_buckets(); }
  const CellGrid& grid() const { return of_.pieces[0].buckets.grid(); }
  const BucketSums& sums(std::size_t s, std::size_t bucket) const { return of_.pieces[s].buckets.sums(bucket); }

  void add_profile(std::size_t s);
  void find_first(std::size_t s);
  Stretch stretch_of_total() const;
  void resolve(core::RunContext& context);
  void want(std::size_t s, std::size_t bucket, std::size_t count);
  void want_all(std::size_t first, std::size_t last, std::size_t ahead);
  void want_more(const Need& need);
  void collect(core::RunContext& context);
  std::span<const Increment> block(std::size_t s, std::size_t bucket) const;
  Purse purse_before(std::size_t s, std::size_t bucket) const;
  bool is_open(const Increment& increment, std::size_t s, const State& state) const;
  void note(const Increment& increment, std::size_t s, bool taken, State& state) const;
  Need walk_alone(std::size_t s, std::size_t first, std::size_t end, State& state) const;
  Need walk_bucket(std::size_t bucket, State& state, bool& done) const;
  Need walk_together(std::size_t first, State& state) const;
  State empty_state() const;
  Need walk(std::size_t first_of_total, State& state) const;

  SegmentsToWalk of_;
  const Prices& prices_;
  double budget_;
  double slack_ = 0.0;
  std::vector<Profile> profiles_;
  std::vector<std::vector<bool>> collected_;        // segments x buckets
  std::vector<std::vector<Increment>> increments_;  // per segment, in path order
  std::vector<std::vector<std::size_t>> wanted_;    // per segment: buckets, rising
  std::size_t ahead_ = kFillIncrements;
};

}  // namespace dfcl::allocate
