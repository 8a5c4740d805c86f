// SPDX-License-Identifier: Apache-2.0
//
// Passes over all units, wherever they are: in memory, in a stream, or elsewhere (many machines), where somebody else
// runs the pass and hands back what it found. All end in one PassPart (path_pass.h), so that where the units are does
// not show in a plan.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "dfcl/allocate/path_pass.h"

namespace dfcl::allocate {

// What the first pass yields.
struct Built {
  PathEnds ends;
  std::optional<PathBuckets> buckets;  // finished; none where there is no unit
};

class PathScans {
 public:
  explicit PathScans(const Rules& rules) : rules_(rules), prices_(rules) {}
  virtual ~PathScans() = default;
  virtual Built build(core::RunContext& context) = 0;
  // Of a pass over cells of what was built. The pass must outlive the findings.
  virtual PassPart run(const PathPass& pass, core::RunContext& context) = 0;
  // How finely a cell is refined at a time.
  virtual int log2_refined() const { return 14; }
  // How many increments after the stretch of the cut are collected at first: 1024 mostly fill what a cut leaves.
  virtual std::size_t first_ahead() const { return 1024; }

 protected:
  const Rules rules_;
  const Prices prices_;
};

// Units in pieces that are read again for each pass. Memory: one piece, and the findings of each thread (at most 8).
std::unique_ptr<PathScans> scan_pieces(UnitPieces& pieces, const Rules& rules);

// Units in memory. keep_lists: of the units in each bucket, 4.3 bytes an increment; further passes then look at few.
std::unique_ptr<PathScans> scan_memory(const Units& units, bool keep_lists, const Rules& rules);

// Units elsewhere. A runner takes a pass (PathPass::to_bytes) to all of them, or, for a sample, to some 16,384, and
// returns what it found in all (PassPart::to_bytes). It may be asked for the same pass again.
using PassRunner = std::function<std::string(const std::string& pass)>;
std::unique_ptr<PathScans> scan_elsewhere(PassRunner runner, std::size_t num_arms, const Rules& rules);
// One pass over them, of a sample or of the spends of arms.
PassPart run_elsewhere(const PassRunner& runner, const PathPass& pass, const Rules& rules, const Prices& prices,
                       std::size_t num_arms);

}  // namespace dfcl::allocate
