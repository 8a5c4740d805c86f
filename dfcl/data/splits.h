// SPDX-License-Identifier: Apache-2.0
//
// Which units train, which validate, which test. By hash of the id or cluster (a unit's part does not depend on the
// other rows, their order or the threads), by time (earlier trains, later tests), or as a column says.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "dfcl/data/ids.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"

namespace dfcl::data {

// The part a unit belongs to, from the hash of its id or cluster label.
Split split_of_hash(std::uint64_t hash, const Study::Split& split);

// Hash of an id or cluster label for splitting.
std::uint64_t split_seed(const Study::Split& split);

// The part of each time, from the shares of the number of times: the first train, then validation, the last test. With
// two or more times, the first always trains and the last always tests.
std::vector<Split> splits_of_times(std::size_t num_times, const Study::Split& split);

// The same where test units come from elsewhere: all units train or validate, in the same proportion.
Study::Split without_test(Study::Split split);

std::string_view to_text(Split split);

}  // namespace dfcl::data
