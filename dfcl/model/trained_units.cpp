// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/trained_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/printable.h"

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
  TrainedUnits trained;
  trained.split = split;
  trained.trial_fingerprint = trial.fingerprint;
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

std::string carried_text(const TrainedUnits& trained) {
  std::string text = fmt::format("{}:{:016x}:", trained.num_units, trained.trial_fingerprint);
  for (std::size_t i = 0; i < std::min(trained.keys.size(), kMostCarriedKeys); ++i)
    text += fmt::format("{:016x}", trained.keys[i]);
  return text;
}

TrainedUnits parse_carried(const std::string& text, const std::string& where) {
  const auto refuse = [&] {
    return core::data_error(where, "cannot read which units the predictions were fitted on",
                            fmt::format("'{}'", core::printable_start(text)), "what `dfcl predict` writes");
  };
  TrainedUnits trained;
  trained.most_keys = kMostCarriedKeys;
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string::npos ? first : text.find(':', first + 1);
  if (second == std::string::npos) throw refuse();
  const auto number = [&](std::size_t begin, std::size_t length, int base) {
    std::uint64_t value = 0;
    const char* const end = text.data() + begin + length;
    const auto [rest, problem] = std::from_chars(text.data() + begin, end, value, base);
    if (length == 0 || problem != std::errc() || rest != end) throw refuse();
    return value;
  };
  trained.num_units = number(0, first, 10);
  trained.trial_fingerprint = number(first + 1, second - first - 1, 16);
  const std::size_t letters = text.size() - second - 1;
  if (letters % 16 != 0 || letters / 16 > kMostCarriedKeys) throw refuse();
  for (std::size_t begin = second + 1; begin < text.size(); begin += 16) {
    trained.keys.push_back(number(begin, 16, 16));
    if (trained.keys.size() > 1 && trained.keys.back() <= trained.keys[trained.keys.size() - 2]) throw refuse();
  }
  return trained;
}

Overlap overlap_with(const TrainedUnits& trained, const data::Trial& trial, std::span<const std::uint8_t> is_chosen) {
  Overlap overlap;
  // Fewer keys than fit are all there are: a hash beyond the largest was then certainly not trained on.
  overlap.is_exact = trained.keys.size() < trained.most_keys;
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
