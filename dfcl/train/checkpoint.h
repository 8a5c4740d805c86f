// SPDX-License-Identifier: Apache-2.0
//
// The state of a training run on disk, so that the same command goes on where it was stopped: one file for each fit
// that keeps a state (dfcl/learn/learner.h), replaced whole after each epoch, and one for what `auto` has found so far.
// A file of another run (other data, settings or version) is refused, never mixed in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/io/tensors/safetensors.h"

namespace dfcl::train {

class Checkpoint {
 public:
  // folder "": nothing is kept. Creates the folder. run: what identifies the run; see run_key().
  Checkpoint(std::string folder, std::uint64_t run);

  // name: "member-0", "nuisance-1". Nothing where there is nothing to go on with. Throws Error of kind file for a
  // damaged file and of kind usage for that of another run.
  std::optional<io::TensorFile> load(const std::string& name) const;
  void save(const std::string& name, io::TensorFile state) const;
  // The same for a plain list of numbers.
  bool load(const std::string& name, std::vector<double>& numbers) const;
  void save(const std::string& name, const std::vector<double>& numbers) const;

  std::string path_of(const std::string& name) const;
  // Else saving does nothing.
  bool is_kept() const { return !folder_.empty(); }

 private:
  std::string folder_;
  std::uint64_t run_;
};

}  // namespace dfcl::train
