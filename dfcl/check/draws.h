// SPDX-License-Identifier: Apache-2.0
//
// Which rows belong together (a cluster, or an id that comes back over time), and which rows received their arm in one
// draw. Intervals go by group, the tests of the assignment by draw. Groups and the rows in them stand in the order of
// hashes of their ids, so that no sum shows how the rows of a file were ordered; with a scratch folder, where features
// may lie in a file larger than memory, and without ids they stand as read. Time: one sort of hashes. Memory: 4 bytes a
// row and 8 a group, 16 more a row while hashes are sorted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dfcl/check/check.h"
#include "dfcl/core/column.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/trial.h"

namespace dfcl::check {

// Rows in groups. Where begins is empty, every row is a group of its own.
struct RowGroups {
  std::size_t num_rows = 0;
  core::Column<std::uint32_t> rows;  // group by group; inside a group by time, then by key. Empty: as read, each alone
  core::Column<std::uint64_t> begins;  // groups + 1

  bool single_rows() const { return begins.empty(); }
  std::size_t size() const { return single_rows() ? num_rows : begins.size() - 1; }
  std::size_t size_of(std::size_t group) const { return single_rows() ? 1 : begins[group + 1] - begins[group]; }
  std::size_t row(std::size_t group, std::size_t i) const {
    return single_rows() ? place(group) : rows[begins[group] + i];
  }
  // The row at a place of this order of all rows.
  std::size_t place(std::size_t index) const { return rows.empty() ? index : rows[index]; }
};

struct Draws {
  Drawn drawn = Drawn::unit;
  RowGroups groups;                  // one group a draw
  core::Column<std::uint8_t> arm;    // per draw: the arm of most of its rows
  std::size_t num_mixed_groups = 0;  // groups (not draws) that hold more than one arm
};

// Clusters where they are declared, else ids where there is a time, else single rows. Ids count as equal when their
// 64-bit hashes are.
RowGroups groups_of(const data::Trial& trial, core::RunContext& context);

// By group where (nearly) all groups hold one arm; by group and time where that holds for clusters at each time; else
// by row. "Nearly": a tenth of the mixed groups that drawing by row would have given.
Draws draws_of(const data::Trial& trial, const RowGroups& groups, core::RunContext& context);

// At most `count` of 0..size-1, one at a random place of each of `count` equal stretches, so that no period in
// the order of the rows can line up with it. Always the same ones; all of them where size <= count.
std::vector<std::uint64_t> spread_sample(std::size_t size, std::size_t count);
// The rows at such places.
std::vector<std::uint64_t> sample_rows(const RowGroups& order, std::size_t count);

// The size of the fixed chunks for sums over `size` items: at most 64 of them.
std::size_t chunk_size_of(std::size_t size);

}  // namespace dfcl::check
