// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/trial.h"

#include "dfcl/core/hash.h"
#include "dfcl/core/parallel.h"

namespace dfcl::data {
namespace {

// Hashes fixed pieces in parallel and joins them in order.
template <class T>
std::uint64_t hash_memory(const T* values, std::size_t size, std::uint64_t seed, core::RunContext& context) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;  // elements
  return core::sum_chunks(
      context, size, kPiece, seed,
      [&](std::size_t begin, std::size_t end) { return core::hash_bytes(values + begin, (end - begin) * sizeof(T)); },
      [](std::uint64_t& total, std::uint64_t part) { total = core::combine_hashes(total, part); });
}

template <class T>
std::uint64_t hash_vector(const core::Column<T>& values, std::uint64_t seed, core::RunContext& context) {
  return hash_memory(values.data(), values.size(), seed, context);
}

std::uint64_t hash_labels(const std::vector<std::string>& labels, std::uint64_t seed) {
  for (const std::string& label : labels) seed = core::hash_text(label, seed);
  return seed;
}

}  // namespace

std::uint64_t fingerprint_of(const Trial& trial, core::RunContext& context) {
  std::uint64_t hash = hash_labels(trial.arms.labels, trial.arms.control);
  for (const FeatureColumn& column : trial.features.columns) {
    hash = hash_labels(column.levels, core::hash_text(column.name, hash));
  }
  const auto& values = trial.features.values;
  hash = hash_memory(values.data(), values.rows() * values.cols(), hash, context);
  hash = hash_vector(trial.arm, hash, context);
  hash = hash_vector(trial.revenue, hash, context);
  hash = hash_vector(trial.cost, hash, context);
  hash = hash_vector(trial.propensity, hash, context);
  hash = hash_vector(trial.cluster, hash, context);
  hash = hash_labels(trial.times, hash_vector(trial.time, hash, context));
  if (!trial.ids.are_row_numbers()) {
    constexpr std::size_t kPiece = 65536;  // ids
    hash = core::sum_chunks(
        context, trial.ids.size(), kPiece, hash,
        [&](std::size_t begin, std::size_t end) {
          std::uint64_t part = 0;
          for (std::size_t unit = begin; unit < end; ++unit) part = trial.ids.hash(unit, part);
          return part;
        },
        [](std::uint64_t& total, std::uint64_t part) { total = core::combine_hashes(total, part); });
  }
  if (trial.cost_facts.is_known()) {
    const std::vector<double>& facts = trial.cost_facts.per_arm;
    hash = core::hash_bytes(facts.data(), facts.size() * sizeof(double),
                            core::hash_text(to_text(trial.cost_facts.kind), hash));
  }
  return hash;
}

}  // namespace dfcl::data
