// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/id_match.h"

#include <fmt/format.h>

#include <numeric>
#include <unordered_map>

#include "dfcl/core/error.h"

namespace dfcl::data {
namespace {

bool same_order(const Ids& wanted, const Ids& given) {
  if (wanted.size() != given.size()) return false;
  if (wanted == given) return true;
  for (std::size_t unit = 0; unit < wanted.size(); ++unit) {
    if (wanted.hash(unit) != given.hash(unit)) return false;
  }
  return true;
}

}  // namespace

std::vector<std::size_t> match_ids(const Ids& wanted, const Ids& given, const std::string& where) {
  std::vector<std::size_t> rows(wanted.size());
  if (same_order(wanted, given)) {
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    return rows;
  }
  std::unordered_map<std::uint64_t, std::size_t> row_of_hash;
  row_of_hash.reserve(given.size());
  for (std::size_t row = 0; row < given.size(); ++row) {
    if (!row_of_hash.try_emplace(given.hash(row), row).second) {
      throw core::Error({.kind = core::ErrorKind::data,
                         .what = "an id stands twice",
                         .where = where,
                         .found = fmt::format("'{}'", given.text(row)),
                         .expected = "one row a unit"});
    }
  }
  std::size_t missing = 0;
  std::string example;
  for (std::size_t unit = 0; unit < wanted.size(); ++unit) {
    const auto found = row_of_hash.find(wanted.hash(unit));
    if (found != row_of_hash.end()) {
      rows[unit] = found->second;
    } else if (missing++ == 0) {
      example = wanted.text(unit);
    }
  }
  if (missing > 0) {
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = fmt::format("{} of {} units are not there", missing, wanted.size()),
                       .where = where,
                       .found = fmt::format("no row for id '{}'", example),
                       .expected = "a row for every unit"});
  }
  return rows;
}

}  // namespace dfcl::data
