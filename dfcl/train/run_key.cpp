// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/run_key.h"

#include "dfcl/core/hash.h"
#include "dfcl/core/version.h"
#include "dfcl/data/study_keys.h"

namespace dfcl::train {

std::uint64_t run_key(const data::Trial& trial, const data::Study& study, const Settings& settings) {
  std::uint64_t key = core::combine_hashes(trial.fingerprint, core::hash_text(core::version()));
  key = core::hash_text("fits that share trees", key);  // the form of the checkpoints
  key = core::hash_bytes(trial.split.data(), trial.split.size(),
                         key);  // a column may say it; the fingerprint leaves it out
  const auto add = [&](const auto& settings_list) {
    for (const auto& [name, value] : settings_list) key = core::hash_text(value, core::hash_text(name, key));
  };
  add(data::training_identity(study));
  add(settings.shown());  // what was chosen from the data, and the model that training starts from
  key = core::hash_text(data::to_text(trial.cost_facts.kind), key);  // the same column, learned or known
  return core::combine_hashes(key, settings.seed);
}

}  // namespace dfcl::train
