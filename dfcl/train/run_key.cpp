// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/run_key.h"

#include <fmt/format.h>

#include "dfcl/core/hash.h"
#include "dfcl/core/version.h"

namespace dfcl::train {

std::uint64_t run_key(const data::Trial& trial, const data::Study& study, const Settings& settings) {
  std::uint64_t key = core::combine_hashes(trial.fingerprint, core::hash_text(core::version()));
  key = core::hash_text("one file a fit", key);  // the form of the checkpoints
  key = core::hash_bytes(trial.split.data(), trial.split.size(),
                         key);  // a column may say it; the fingerprint leaves it out
  for (const auto& [name, value] : settings.shown()) key = core::hash_text(value, core::hash_text(name, key));
  const auto add = [&](double number) { key = core::hash_bytes(&number, sizeof(number), key); };
  for (const auto& layers : {study.network.hidden, study.network.shared, study.network.heads}) {
    for (const std::int64_t width : layers) add(static_cast<double>(width));
    add(-1.0);
  }
  for (const auto& budgets : {study.budgets.per_unit, study.budgets.total, study.budgets.share_of_max}) {
    for (const double budget : budgets) add(budget);
    add(-1.0);
  }
  for (const double number : {study.split.train, study.split.validation, static_cast<double>(study.split.seed)})
    add(number);
  for (const bool fact : {study.cost.control_is_free, study.cost.non_negative, study.cost.rises_with_arm})
    add(fact ? 1.0 : 0.0);
  key = core::hash_text(fmt::format("{}|{}|{}|{}|{}|{}", study.split.by, settings.method.name,
                                    study.network.revenue_kind.value_or(""), study.network.cost_kind.value_or(""),
                                    fmt::join(study.method.monotone, ","), fmt::join(study.method.concave, ",")),
                        key);
  return core::combine_hashes(key, settings.seed);
}

}  // namespace dfcl::train
