// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/draws.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "dfcl/core/hash.h"
#include "dfcl/core/parallel.h"
#include "dfcl/data/unit_key.h"

namespace dfcl::check {
namespace {

RowGroups empty_groups(const data::Trial& trial, const core::RunContext& context) {
  return {.num_rows = trial.num_units(),
          .rows = core::Column<std::uint32_t>(context.scratch()),
          .begins = core::Column<std::uint64_t>(context.scratch())};
}

// All rows by their keys; empty where they stand as read.
core::Column<std::uint32_t> rows_by_key(const data::Trial& trial, core::RunContext& context) {
  struct Keyed {
    std::uint64_t key;
    std::uint32_t row;
    bool operator<(const Keyed& other) const { return key != other.key ? key < other.key : row < other.row; }
  };
  core::Column<std::uint32_t> rows(context.scratch());
  if (trial.ids.are_row_numbers()) return rows;
  constexpr std::size_t kBlocks = 4096;  // by the upper bits, each sorted on its own
  const auto block_of = [](std::uint64_t key) { return key >> 52; };
  const std::size_t size = trial.num_units();
  core::Column<std::uint64_t> keys(context.scratch());
  keys.resize(size);
  core::for_each_chunk(context, size, 65'536, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t row = begin; row < end; ++row) keys[row] = core::mix_bits(data::unit_key(trial, row));
  });
  std::vector<std::size_t> ends(kBlocks + 1);
  for (const std::uint64_t key : keys) ++ends[block_of(key) + 1];
  for (std::size_t block = 1; block < ends.size(); ++block) ends[block] += ends[block - 1];
  std::vector<std::size_t> next(ends.begin(), ends.end() - 1);
  core::Column<Keyed> keyed(context.scratch());
  keyed.resize(size);
  for (std::size_t row = 0; row < size; ++row)
    keyed[next[block_of(keys[row])]++] = {keys[row], static_cast<std::uint32_t>(row)};
  rows.resize(size);
  core::for_each_chunk(context, kBlocks, 64, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t block = begin; block < end; ++block) {
      std::sort(keyed.begin() + ends[block], keyed.begin() + ends[block + 1]);
    }
    for (std::size_t i = ends[begin]; i < ends[end]; ++i) rows[i] = keyed[i].row;
  });
  return rows;
}

// Each row alone.
RowGroups single_rows_of(const data::Trial& trial, core::RunContext& context) {
  return {.num_rows = trial.num_units(), .rows = rows_by_key(trial, context), .begins = {}};
}

// The rank of each cluster by its key.
std::vector<std::uint32_t> cluster_ranks(const data::Trial& trial) {
  std::vector<std::uint32_t> order(trial.num_clusters);
  std::iota(order.begin(), order.end(), 0u);
  if (!trial.cluster_key.empty()) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return trial.cluster_key[a] < trial.cluster_key[b]; });
  }
  std::vector<std::uint32_t> ranks(order.size());
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = rank;
  return ranks;
}

// all: the rows in their order.
RowGroups groups_of_clusters(const data::Trial& trial, const RowGroups& all, const core::RunContext& context) {
  RowGroups groups = empty_groups(trial, context);
  const std::vector<std::uint32_t> rank = cluster_ranks(trial);
  groups.rows.resize(trial.num_units());
  groups.begins.assign(trial.num_clusters + 1, 0);
  for (const std::uint32_t cluster : trial.cluster) ++groups.begins[rank[cluster] + 1];
  for (std::size_t i = 1; i < groups.begins.size(); ++i) groups.begins[i] += groups.begins[i - 1];
  core::Column<std::uint64_t> next = groups.begins;
  for (std::size_t i = 0; i < trial.num_units(); ++i) {
    const std::size_t row = all.place(i);
    groups.rows[next[rank[trial.cluster[row]]]++] = static_cast<std::uint32_t>(row);
  }
  // A cluster without rows is no group.
  groups.begins.resize(
      static_cast<std::size_t>(std::unique(groups.begins.begin(), groups.begins.end()) - groups.begins.begin()));
  return groups;
}

void sort_by_time(const data::Trial& trial, RowGroups& groups, core::RunContext& context) {
  core::for_each_chunk(context, groups.size(), 4096, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t group = begin; group < end; ++group) {
      std::stable_sort(groups.rows.begin() + static_cast<std::ptrdiff_t>(groups.begins[group]),
                       groups.rows.begin() + static_cast<std::ptrdiff_t>(groups.begins[group + 1]),
                       [&](std::uint32_t a, std::uint32_t b) { return trial.time[a] < trial.time[b]; });
    }
  });
}

struct Mixing {
  double mixed = 0.0;     // groups with more than one arm
  double expected = 0.0;  // as many as drawing by row would have given
};

bool is_mixed(const data::Trial& trial, const RowGroups& groups, std::size_t group) {
  const std::uint8_t first = trial.arm[groups.row(group, 0)];
  for (std::size_t i = 1; i < groups.size_of(group); ++i) {
    if (trial.arm[groups.row(group, i)] != first) return true;
  }
  return false;
}

Mixing mixing_of(const data::Trial& trial, const RowGroups& groups, core::RunContext& context) {
  std::array<double, 256> shares{};
  for (const std::uint8_t arm : trial.arm) shares[arm] += 1.0 / static_cast<double>(trial.num_units());
  return core::sum_chunks(
      context, groups.size(), chunk_size_of(groups.size()), Mixing{},
      [&](std::size_t begin, std::size_t end) {
        Mixing part;
        for (std::size_t group = begin; group < end; ++group) {
          const std::size_t size = groups.size_of(group);
          if (size < 2) continue;
          double pure = 0.0;
          for (std::size_t arm = 0; arm < trial.arms.size(); ++arm) {
            pure += std::pow(shares[arm], static_cast<double>(size));
          }
          part.expected += 1.0 - pure;
          part.mixed += is_mixed(trial, groups, group) ? 1.0 : 0.0;
        }
        return part;
      },
      [](Mixing& total, const Mixing& part) {
        total.mixed += part.mixed;
        total.expected += part.expected;
      });
}

bool drawn_by_group(const Mixing& mixing) { return mixing.expected > 0.0 && mixing.mixed < 0.1 * mixing.expected; }

RowGroups cut_by_time(const data::Trial& trial, const RowGroups& groups) {
  RowGroups cells{
      .num_rows = groups.num_rows, .rows = groups.rows, .begins = core::Column<std::uint64_t>(groups.begins.another())};
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (std::uint64_t i = groups.begins[group]; i < groups.begins[group + 1]; ++i) {
      const bool first = i == groups.begins[group];
      if (first || trial.time[groups.rows[i]] != trial.time[groups.rows[i - 1]]) cells.begins.push_back(i);
    }
  }
  cells.begins.push_back(groups.num_rows);
  return cells;
}

core::Column<std::uint8_t> arms_of(const data::Trial& trial, const RowGroups& groups, core::RunContext& context) {
  if (groups.single_rows() && groups.rows.empty()) return trial.arm;
  core::Column<std::uint8_t> arms(context.scratch());
  arms.resize(groups.size());
  core::for_each_chunk(context, groups.size(), 16'384, [&](std::size_t begin, std::size_t end, std::size_t) {
    std::vector<std::size_t> votes(trial.arms.size());
    for (std::size_t group = begin; group < end; ++group) {
      std::fill(votes.begin(), votes.end(), 0);
      for (std::size_t i = 0; i < groups.size_of(group); ++i) ++votes[trial.arm[groups.row(group, i)]];
      arms[group] = static_cast<std::uint8_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
    }
  });
  return arms;
}

}  // namespace

RowGroups groups_of(const data::Trial& trial, core::RunContext& context) {
  RowGroups all = single_rows_of(trial, context);
  if (!trial.has_clusters()) return all;
  RowGroups groups = groups_of_clusters(trial, all, context);
  if (groups.size() == groups.num_rows) return all;
  if (trial.has_time()) sort_by_time(trial, groups, context);
  return groups;
}

Draws draws_of(const data::Trial& trial, const RowGroups& groups, core::RunContext& context) {
  Draws draws;
  if (groups.single_rows()) {
    if (trial.has_clusters()) draws.drawn = Drawn::cluster;
    draws.groups = groups;
    draws.arm = arms_of(trial, draws.groups, context);
    return draws;
  }
  const Mixing mixing = mixing_of(trial, groups, context);
  draws.num_mixed_groups = static_cast<std::size_t>(mixing.mixed);
  if (drawn_by_group(mixing)) {
    draws.drawn = Drawn::cluster;
    draws.groups = groups;
  } else if (trial.has_time()) {
    RowGroups cells = cut_by_time(trial, groups);
    if (cells.size() == trial.num_units()) {
      draws.drawn = Drawn::cluster_and_time;  // one row a cluster and time
    } else if (drawn_by_group(mixing_of(trial, cells, context))) {
      draws.drawn = Drawn::cluster_and_time;
      draws.groups = std::move(cells);
    }
  }
  if (draws.groups.num_rows == 0) draws.groups = single_rows_of(trial, context);
  draws.arm = arms_of(trial, draws.groups, context);
  return draws;
}

std::vector<std::uint64_t> spread_sample(std::size_t size, std::size_t count) {
  count = std::min(size, count);
  std::vector<std::uint64_t> sample(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t begin = size * i / count;
    const std::uint64_t end = size * (i + 1) / count;
    sample[i] = begin + core::mix_bits(i) % (end - begin);
  }
  return sample;
}

std::vector<std::uint64_t> sample_rows(const RowGroups& order, std::size_t count) {
  std::vector<std::uint64_t> sample = spread_sample(order.num_rows, count);
  for (std::uint64_t& row : sample) row = order.place(row);
  return sample;
}

std::size_t chunk_size_of(std::size_t size) { return std::max<std::size_t>(4096, (size + 63) / 64); }

std::string_view to_text(Drawn drawn) {
  switch (drawn) {
    case Drawn::unit: return "unit";
    case Drawn::cluster: return "cluster";
    case Drawn::cluster_and_time: return "cluster and time";
  }
  return "";
}

}  // namespace dfcl::check
