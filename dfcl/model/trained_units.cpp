// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/trained_units.h"

#include <algorithm>
#include <iterator>

#include "dfcl/core/hash.h"

namespace dfcl::model {
namespace {

class UnitKeys {
 public:
  explicit UnitKeys(const data::Trial& trial)
      : trial_(trial),
        seed_(core::combine_hashes(core::hash_text("trained unit"),
                                   trial.ids.are_row_numbers() ? trial.fingerprint : 0)) {
    for (const std::string& time : trial.times) times_.push_back(core::hash_text(time));
  }
  std::uint64_t operator()(std::size_t unit) const {
    const std::uint64_t key = trial_.ids.hash(unit, seed_);
    return times_.empty() ? key : core::combine_hashes(key, times_[trial_.time[unit]]);
  }

 private:
  const data::Trial& trial_;
  std::uint64_t seed_;
  std::vector<std::uint64_t> times_;
};

}  // namespace

TrainedUnits trained_units(const data::Trial& trial, const data::Study::Split& split,
                           std::span<const std::uint8_t> is_training) {
  TrainedUnits trained{.split = split, .trial_fingerprint = trial.fingerprint, .num_units = 0, .keys = {}};
  const UnitKeys key_of(trial);
  std::vector<std::uint64_t>& keys = trained.keys;
  const auto shrink = [&] {
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    keys.resize(std::min(keys.size(), kMostKeys));
  };
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    if (is_training[unit] == 0) continue;
    ++trained.num_units;
    keys.push_back(key_of(unit));
    if (keys.size() == 4 * kMostKeys) shrink();
  }
  shrink();
  keys.shrink_to_fit();
  return trained;
}

// A sketch knows of the keys up to its largest, or of all where it is not full; both know of those that are kept.
void add_earlier(TrainedUnits& trained, const TrainedUnits& earlier) {
  std::vector<std::uint64_t> both;
  std::set_union(trained.keys.begin(), trained.keys.end(), earlier.keys.begin(), earlier.keys.end(),
                 std::back_inserter(both));
  both.resize(std::min(both.size(), kMostKeys));
  trained.keys = std::move(both);
}

Overlap overlap_with(const TrainedUnits& trained, const data::Trial& trial, std::span<const std::uint8_t> is_chosen) {
  Overlap overlap;
  // Fewer keys than fit are all there are: a hash beyond the largest was then certainly not trained on.
  overlap.is_exact = trained.keys.size() < kMostKeys;
  const UnitKeys key_of(trial);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    if (!is_chosen.empty() && is_chosen[unit] == 0) continue;
    const std::uint64_t key = key_of(unit);
    if (!overlap.is_exact && key > trained.keys.back()) continue;
    ++overlap.num_compared;
    if (std::binary_search(trained.keys.begin(), trained.keys.end(), key)) ++overlap.num_trained;
  }
  return overlap;
}

}  // namespace dfcl::model
