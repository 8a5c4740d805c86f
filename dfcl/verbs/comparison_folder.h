// SPDX-License-Identifier: Apache-2.0
//
// The folder of a comparison: compare.json says which comparison it is, models/ and checkpoints/ hold what was trained
// and what is being trained, training.json how long it took. Every file appears whole or not at all. One process at a
// time: a lock is held as long as the object lives. Internal to verbs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "dfcl/data/study.h"
#include "dfcl/model/model.h"

namespace dfcl::verbs {

class ComparisonFolder {
 public:
  struct Time {
    double seconds = 0.0;
    bool resumed = false;
  };

  // Makes the folder, or goes on with the one that is there, where what it holds is part of what is asked: the same
  // trial, seed, device (train::name_of) and settings, the same reference, no fewer methods, seeds and alternatives;
  // [report] may differ. Throws Error of kind usage, with the key that differs, where it holds another comparison or
  // anything else; of kind file where it cannot be written to or another process works in it.
  ComparisonFolder(std::string folder, const data::Study& study, std::uint64_t trial, std::uint64_t seed,
                   const std::string& device);
  ~ComparisonFolder();
  ComparisonFolder(const ComparisonFolder&) = delete;
  ComparisonFolder& operator=(const ComparisonFolder&) = delete;

  // Whether a comparison can lie there at all, before anything is read or made. Throws as above.
  static void require_place(const std::string& folder);

  std::string file(const std::string& name) const;
  std::string model(const std::string& entry, std::uint64_t seed) const;
  std::string checkpoint(const std::string& entry, std::uint64_t seed) const;
  bool has_model(const std::string& entry, std::uint64_t seed) const;
  // Writes the time, then the model, then removes the checkpoint: a model that is there has its time.
  void keep(const std::string& entry, std::uint64_t seed, const model::Model& trained, double seconds, bool resumed);
  void forget_checkpoint(const std::string& entry, std::uint64_t seed) const;
  std::optional<Time> time(const std::string& entry, std::uint64_t seed) const;

 private:
  class Lock;

  std::string folder_;
  std::unique_ptr<Lock> lock_;
};

}  // namespace dfcl::verbs
