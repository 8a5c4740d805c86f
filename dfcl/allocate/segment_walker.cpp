// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/segment_walker.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "dfcl/core/error.h"

namespace dfcl::allocate {
namespace {

constexpr std::size_t kMostCollected = 8'000'000;             // increments: 400 MB
constexpr std::size_t kCheapToCollect = 4 * kFillIncrements;  // before it is known whether they are needed

}  // namespace

SegmentWalker::SegmentWalker(const SegmentsToWalk& of, double budget) : of_(of), prices_(of.prices), budget_(budget) {
  for (const SegmentPiece& piece : of_.pieces) slack_ += piece.ends.absolute_cost();
  for (std::size_t s = 0; s < size(); ++s) add_profile(s);
  slack_ = 1e-9 * (slack_ + (std::isfinite(budget) ? std::abs(budget) : 0.0));
  for (std::size_t s = 0; s < size(); ++s) find_first(s);
  collected_.assign(size(), std::vector<bool>(num_buckets()));
  increments_.resize(size());
}

void SegmentWalker::add_profile(std::size_t s) {
  Profile profile;
  profile.least = of_.pieces[s].ends.least.spend(prices_);
  double spend = profile.least;
  for (std::size_t bucket = 0; bucket < num_buckets(); ++bucket) {
    if (sums(s, bucket).increments > 0) spend += sums(s, bucket).spend;
    profile.spend.push_back(spend);
  }
  slack_ += std::abs(spend) + (std::isfinite(of_.budgets[s]) ? std::abs(of_.budgets[s]) : 0.0);
  profiles_.push_back(std::move(profile));
}

void SegmentWalker::find_first(std::size_t s) {
  Profile& profile = profiles_[s];
  for (std::size_t bucket = 0; bucket < num_buckets(); ++bucket) {
    if (sums(s, bucket).increments == 0 || profile.spend[bucket] <= of_.budgets[s] - slack_) continue;
    profile.first_cut = bucket;
    return;
  }
}

// A segment spends no more than its budget, and no less than what surely fits.
SegmentWalker::Stretch SegmentWalker::stretch_of_total() const {
  Stretch stretch;
  for (std::size_t bucket = 0; bucket < num_buckets(); ++bucket) {
    double most = 0.0, least = 0.0;
    for (std::size_t s = 0; s < size(); ++s) {
      const Profile& profile = profiles_[s];
      if (bucket < profile.first_cut) {
        most += profile.spend[bucket];
        least += profile.spend[bucket];
        continue;
      }
      const double before = profile.first_cut == 0 ? profile.least : profile.spend[profile.first_cut - 1];
      most += profile.resolved ? std::min(profile.spend[bucket], profile.at_end)
                               : std::min(profile.spend[bucket], of_.budgets[s]);
      least += profile.resolved && bucket >= profile.cut_bucket ? profile.at_cut : before;
    }
    if (stretch.first == kNone && most > budget_ - slack_) stretch.first = bucket;
    if (stretch.first == kNone) continue;
    stretch.last = bucket;
    if (least > budget_ + slack_) break;
  }
  return stretch;
}

// Increments of a segment from a bucket on: at least so many, where there are.
void SegmentWalker::want(std::size_t s, std::size_t bucket, std::size_t count) {
  std::size_t seen = 0;
  for (; bucket < num_buckets() && seen < count; ++bucket) {
    const auto increments = static_cast<std::size_t>(sums(s, bucket).increments);
    if (increments == 0) continue;
    seen += increments;
    if (!collected_[s][bucket]) wanted_[s].push_back(bucket);
  }
}

// Those of all segments in some buckets and, together, so many after them.
void SegmentWalker::want_all(std::size_t first, std::size_t last, std::size_t ahead) {
  std::size_t after = 0;
  for (std::size_t bucket = first; bucket < num_buckets() && (bucket <= last || after < ahead); ++bucket) {
    for (std::size_t s = 0; s < size(); ++s) {
      const auto increments = static_cast<std::size_t>(sums(s, bucket).increments);
      if (increments == 0) continue;
      if (bucket > last) after += increments;
      if (!collected_[s][bucket]) wanted_[s].push_back(bucket);
    }
  }
}

void SegmentWalker::want_more(const Need& need) {
  ahead_ *= 4;
  if (need.segment != kNone) {
    want(need.segment, need.bucket, ahead_);
  } else {
    want_all(need.bucket, need.bucket, ahead_);
  }
}

void SegmentWalker::collect(core::RunContext& context) {
  std::size_t count = 0;
  std::vector<std::string> passes(size());
  std::vector<std::optional<PathPass>> asked(size());
  for (std::size_t s = 0; s < size(); ++s) {
    std::sort(wanted_[s].begin(), wanted_[s].end());
    std::vector<Cell> cells;
    for (const std::size_t bucket : wanted_[s]) {
      if (collected_[s][bucket]) continue;  // wanted twice
      collected_[s][bucket] = true;
      count += static_cast<std::size_t>(sums(s, bucket).increments);
      const Cell cell = grid().bucket_cell(bucket);
      if (!cells.empty() && cells.back().end == cell.begin) {
        cells.back().end = cell.end;
      } else {
        cells.push_back(cell);
      }
    }
    wanted_[s].clear();
    if (cells.empty()) continue;
    asked[s] = PathPass::collect(of_.pieces[s].buckets.layout(), std::move(cells));
    passes[s] = asked[s]->to_bytes();
  }
  if (count > kMostCollected) {
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = "too many units are equally efficient where budgets of segments end",
                       .found = std::to_string(count) + " steps",
                       .expected = "at most " + std::to_string(kMostCollected) + " where units are on many machines"});
  }
  if (count == 0) return;
  context.check_cancelled();
  const std::vector<std::string> found = of_.run(passes);
  for (std::size_t s = 0; s < size(); ++s) {
    if (!asked[s]) continue;
    PassPart part(*asked[s], of_.rules, prices_, of_.num_arms);
    part.merge_bytes(found[s]);
    const std::vector<Increment> more = part.take_increments();
    increments_[s].insert(increments_[s].end(), more.begin(), more.end());
    std::sort(increments_[s].begin(), increments_[s].end(), before);
  }
}

std::span<const Increment> SegmentWalker::block(std::size_t s, std::size_t bucket) const {
  const Cell cell = grid().bucket_cell(bucket);
  const auto place = [&](PathPosition position) {
    return std::partition_point(increments_[s].begin(), increments_[s].end(),
                                [&](const Increment& increment) { return position_of(increment) < position; });
  };
  return {place(cell.begin), place(cell.end)};
}

// With all that lies before the bucket paid.
Purse SegmentWalker::purse_before(std::size_t s, std::size_t bucket) const {
  const SegmentPiece& piece = of_.pieces[s];
  Purse purse;
  purse.budget = of_.budgets[s];
  if (bucket == kNone) {
    purse.exact = piece.ends.most;
  } else {
    purse.exact = piece.ends.least;
    purse.exact.add(piece.buckets.totals_before(bucket));
  }
  purse.settle(prices_);
  return purse;
}

// A unit takes its increments in order: the one before must lie before the cuts or have been taken after them.
bool SegmentWalker::is_open(const Increment& increment, std::size_t s, const State& state) const {
  if (increment.is_first() || position_of(increment.previous, increment.key) < state.start[s]) return true;
  const auto found = state.filled[s].find(increment.key);
  return found != state.filled[s].end() && found->second.efficiency == increment.previous;
}

void SegmentWalker::note(const Increment& increment, std::size_t s, bool taken, State& state) const {
  const PathPosition place = position_of(increment);
  if (taken) {
    if (place < state.start[s]) return;
    const auto [found, is_new] = state.filled[s].try_emplace(
        increment.key, FilledStep{{increment.arm_from, increment.arm_to}, increment.efficiency});
    if (!is_new) found->second = {{found->second.arm.from, increment.arm_to}, increment.efficiency};
    return;
  }
  for (std::size_t other = 0; other < size(); ++other) {
    const bool is_cut =
        other == s ? state.walk.segments[s].cut > 0.0 || state.walk.total.cut > 0.0 : state.walk.total.cut > 0.0;
    if (is_cut) state.start[other] = std::min(state.start[other], place);
  }
}

// Buckets [first, end) of a segment whose total can pay for sure.
SegmentWalker::Need SegmentWalker::walk_alone(std::size_t s, std::size_t first, std::size_t end, State& state) const {
  Purse& purse = state.walk.segments[s];
  for (std::size_t bucket = first; bucket < end; ++bucket) {
    const BucketSums& here = sums(s, bucket);
    if (here.increments == 0) continue;
    if (purse.offered > kFillIncrements) break;
    if (!collected_[s][bucket]) {
      if (purse.cut == 0.0 || purse.may_pay(here.least_cost)) return {s, bucket};
      purse.offered += static_cast<std::size_t>(here.increments);
      continue;
    }
    for (const Increment& increment : block(s, bucket)) {
      if (state.walk.segment_is_done(s)) break;
      if (!is_open(increment, s, state)) continue;
      note(increment, s, state.walk.take_in_segment(increment, s, prices_), state);
    }
  }
  return {};
}

// One bucket of all segments, in path order. done: enough was offered to the total.
SegmentWalker::Need SegmentWalker::walk_bucket(std::size_t bucket, State& state, bool& done) const {
  SegmentWalk& walk = state.walk;
  struct Offer {
    const Increment* increment;
    std::size_t segment;
  };
  std::vector<Offer> offers;
  std::size_t unseen = 0, all = 0;
  for (std::size_t s = 0; s < size(); ++s) {
    const BucketSums& here = sums(s, bucket);
    const auto count = static_cast<std::size_t>(here.increments);
    all += count;
    if (count == 0) continue;
    if (collected_[s][bucket]) {
      for (const Increment& increment : block(s, bucket)) offers.push_back({&increment, s});
      continue;
    }
    const bool is_done = walk.segments[s].offered > kFillIncrements;
    const bool may_pay = walk.segments[s].may_pay(here.least_cost) && walk.total.may_pay(here.least_cost);
    if (walk.total.cut == 0.0 || (may_pay && !is_done)) return {kNone, bucket};
    unseen += count;
  }
  // Which of them are the last that are offered is known only with all of them.
  if (unseen > 0 && !offers.empty() && walk.total.offered + all > kFillIncrements) return {kNone, bucket};
  std::sort(offers.begin(), offers.end(),
            [](const Offer& a, const Offer& b) { return before(*a.increment, *b.increment); });
  for (const Offer& offer : offers) {
    if ((done = walk.total_is_done())) return {};
    if (walk.segment_is_done(offer.segment) || !is_open(*offer.increment, offer.segment, state)) continue;
    note(*offer.increment, offer.segment, walk.take(*offer.increment, offer.segment, prices_), state);
  }
  for (std::size_t s = 0; s < size(); ++s) {
    if (collected_[s][bucket] || !(walk.segments[s].cut > 0.0)) continue;
    walk.segments[s].offered += static_cast<std::size_t>(sums(s, bucket).increments);
  }
  walk.total.offered += unseen;
  done = walk.total.offered > kFillIncrements;
  return {};
}

SegmentWalker::Need SegmentWalker::walk_together(std::size_t first, State& state) const {
  bool done = false;
  for (std::size_t bucket = first; bucket < num_buckets() && !done; ++bucket) {
    const Need need = walk_bucket(bucket, state, done);
    if (need.any()) return need;
  }
  return {};
}

SegmentWalker::State SegmentWalker::empty_state() const {
  State state;
  state.walk.segments.resize(size());
  state.walk.at_cut.resize(size());
  state.start.assign(size(), kPathEnd);
  state.filled.resize(size());
  return state;
}

// The whole path; first_of_total: the bucket from which on the total may be cut, or kNone.
SegmentWalker::Need SegmentWalker::walk(std::size_t first_of_total, State& state) const {
  state = empty_state();
  for (std::size_t s = 0; s < size(); ++s) {
    const std::size_t begin = std::min(profiles_[s].first_cut, first_of_total);
    state.walk.segments[s] = purse_before(s, begin);
    if (profiles_[s].first_cut >= first_of_total) continue;
    const Need need = walk_alone(s, begin, std::min(first_of_total, num_buckets()), state);
    if (need.any()) return need;
  }
  if (!state.walk.open(budget_, prices_)) throw core::Error({.what = "the segments miss a budget"});
  if (first_of_total != kNone) {
    const Need need = walk_together(first_of_total, state);
    if (need.any()) return need;
  }
  state.walk.finish();
  return {};
}

// Walks alone the segments that may be cut before the total.
void SegmentWalker::resolve(core::RunContext& context) {
  for (bool first_time = true;; first_time = false) {
    const Stretch stretch = stretch_of_total();
    std::vector<std::size_t> open;
    for (std::size_t s = 0; s < size(); ++s) {
      if (profiles_[s].first_cut == kNone || profiles_[s].resolved) continue;
      if (stretch.first == kNone || profiles_[s].first_cut <= stretch.last) open.push_back(s);
    }
    if (open.empty()) return;
    const std::size_t ahead = std::max<std::size_t>(1024, kFillIncrements / open.size());
    for (const std::size_t s : open) {
      std::size_t in_stretch = 0;
      for (std::size_t bucket = profiles_[s].first_cut; bucket < num_buckets(); ++bucket) {
        in_stretch += static_cast<std::size_t>(sums(s, bucket).increments);
        if (profiles_[s].spend[bucket] > of_.budgets[s] + slack_) break;
      }
      want(s, profiles_[s].first_cut, in_stretch + ahead);
    }
    if (first_time && stretch.first != kNone) {  // both at once, where that is little
      std::size_t in_stretch = 0;
      for (std::size_t bucket = stretch.first; bucket <= stretch.last; ++bucket) {
        for (std::size_t s = 0; s < size(); ++s) in_stretch += static_cast<std::size_t>(sums(s, bucket).increments);
      }
      if (in_stretch <= kCheapToCollect) want_all(stretch.first, stretch.last, kFillIncrements);
    }
    collect(context);
    for (const std::size_t s : open) {
      Profile& profile = profiles_[s];
      State state = empty_state();
      for (;;) {
        state.walk.segments[s] = purse_before(s, profile.first_cut);
        const Need need = walk_alone(s, profile.first_cut, num_buckets(), state);
        if (!need.any()) break;
        want_more(need);
        collect(context);
        state = empty_state();
      }
      const Purse& purse = state.walk.segments[s];
      profile.resolved = true;
      profile.at_end = purse.exact.spend(prices_);
      profile.at_cut = purse.cut > 0.0 ? state.walk.at_cut[s].spend(prices_) : profile.at_end;
      profile.cut_bucket = purse.cut > 0.0 ? grid().find(state.start[s]) : num_buckets();
    }
  }
}

void SegmentWalker::solve(SegmentPlan& plan, core::RunContext& context) {
  wanted_.resize(size());
  resolve(context);
  const Stretch stretch = stretch_of_total();
  if (stretch.first != kNone) want_all(stretch.first, stretch.last, kFillIncrements);
  collect(context);
  State state;
  for (Need need = walk(stretch.first, state); need.any(); need = walk(stretch.first, state)) {
    want_more(need);
    collect(context);
  }
  describe_walk(
      state.walk, of_.rules, of_.num_arms,
      [&] { return of_.ends.most_at_any_return().spend(prices_) > plan.summary.spend; }, plan.summary);
  for (std::size_t s = 0; s < size(); ++s) {
    PathCut cut;
    cut.position = state.start[s];
    for (const auto& [key, filled] : state.filled[s]) cut.filled_by_key.emplace(key, filled.arm);
    plan.cuts.push_back(std::move(cut));
  }
}

}  // namespace dfcl::allocate
