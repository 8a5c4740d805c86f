// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/trial.h"

#include <bit>

#include "dfcl/core/hash.h"
#include "dfcl/core/parallel.h"
#include "dfcl/data/unit_key.h"

namespace dfcl::data {
namespace {

std::uint64_t hash_labels(const std::vector<std::string>& labels, std::uint64_t seed) {
  for (const std::string& label : labels) seed = core::hash_text(label, seed);
  return seed;
}

// What the codes mean.
std::uint64_t hash_meaning(const Trial& trial) {
  std::uint64_t hash = hash_labels(trial.arms.labels, trial.arms.control);
  for (const FeatureColumn& column : trial.features.columns)
    hash = hash_labels(column.levels, core::hash_text(column.name, hash));
  return hash;
}

// Hashes fixed pieces in parallel and joins them in order.
template <class T>
std::uint64_t hash_memory(const T* values, std::size_t size, std::uint64_t seed, core::RunContext& context) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;  // elements
  return core::sum_chunks(
      context, size, kPiece, seed,
      [&](std::size_t begin, std::size_t end) { return core::hash_bytes(values + begin, (end - begin) * sizeof(T)); },
      [](std::uint64_t& total, std::uint64_t part) { total = core::combine_hashes(total, part); });
}

// Without ids the place names the row, so the columns are hashed as they lie. Models of version 0.1 know the rows they
// were trained on by this very number.
std::uint64_t fingerprint_of_places(const Trial& trial, core::RunContext& context) {
  const auto add = [&](const auto& column, std::uint64_t hash) {
    return hash_memory(column.data(), column.size(), hash, context);
  };
  const auto& values = trial.features.values;
  std::uint64_t hash = hash_memory(values.data(), values.rows() * values.cols(), hash_meaning(trial), context);
  hash = add(trial.cost, add(trial.revenue, add(trial.arm, hash)));
  hash = add(trial.time, add(trial.cluster, add(trial.propensity, hash)));
  if (!trial.weight.empty()) hash = add(trial.weight, core::hash_text("weight", hash));
  return hash_labels(trial.times, hash);
}

std::uint64_t hash_number(float value, std::uint64_t seed) {
  return core::combine_hashes(seed, std::bit_cast<std::uint32_t>(value));
}

// Everything that is known of one unit, but its split.
std::uint64_t hash_row(const Trial& trial, std::size_t row) {
  std::uint64_t hash = unit_key(trial, row);
  if (trial.has_clusters()) hash = core::combine_hashes(hash, group_key(trial, row));
  hash = core::combine_hashes(hash, trial.arm[row]);
  hash = hash_number(trial.revenue[row], hash);
  hash = hash_number(trial.cost[row], hash);
  if (!trial.propensity.empty()) hash = hash_number(trial.propensity[row], hash);
  if (!trial.weight.empty()) hash = hash_number(trial.weight[row], hash);
  const auto features = trial.features.values.row(row);
  return core::hash_bytes(features.data(), features.size_bytes(), hash);
}

// The sum over units does not depend on their order.
std::uint64_t fingerprint_of_units(const Trial& trial, core::RunContext& context) {
  constexpr std::size_t kRows = 65'536;
  const std::uint64_t units = core::sum_chunks(
      context, trial.num_units(), kRows, std::uint64_t{0},
      [&](std::size_t begin, std::size_t end) {
        std::uint64_t sum = 0;
        for (std::size_t row = begin; row < end; ++row) sum += hash_row(trial, row);
        return sum;
      },
      [](std::uint64_t& total, std::uint64_t part) { total += part; });
  return core::combine_hashes(hash_labels(trial.times, hash_meaning(trial)), units);
}

}  // namespace

std::uint64_t fingerprint_of(const Trial& trial, core::RunContext& context) {
  const std::uint64_t hash =
      trial.ids.are_row_numbers() ? fingerprint_of_places(trial, context) : fingerprint_of_units(trial, context);
  if (!trial.cost_facts.is_known()) return hash;
  const std::vector<double>& facts = trial.cost_facts.per_arm;
  return core::hash_bytes(facts.data(), facts.size() * sizeof(double),
                          core::hash_text(to_text(trial.cost_facts.kind), hash));
}

}  // namespace dfcl::data
