// SPDX-License-Identifier: Apache-2.0
//
// The hashes of many ids at once (Ids::hash of each). Where numbers follow on one another, as row numbers do, they are
// counted on as text: several times as fast as one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dfcl/data/ids.h"

namespace dfcl::data {

// Of the units from `first` on, as many as hashes can hold.
void fill_hashes(const Ids& ids, std::size_t first, std::span<std::uint64_t> hashes, std::uint64_t seed = 0);

}  // namespace dfcl::data
