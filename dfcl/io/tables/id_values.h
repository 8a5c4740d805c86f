// SPDX-License-Identifier: Apache-2.0
//
// From Arrow arrays to ids, exactly: whole numbers of 64 bits stay numbers and nothing passes through floating point.
// Internal to io. Cost: one pass over the array.
#pragma once

#include <arrow/api.h>

#include <cstdint>
#include <optional>
#include <string>

#include "dfcl/data/ids.h"
#include "dfcl/io/tables/bad_row.h"

namespace dfcl::io {

// What letters are: a text file has nothing else, so that whole numbers in plain form are taken for numbers; other
// files say what they mean.
enum class Letters : std::uint8_t { may_be_numbers, are_text };

// Signed and unsigned numbers stay so; letters, decimals, dates and floats become text (17.0 is "17"). A missing id
// becomes the empty text.
data::Ids ids_of(const arrow::Array& array, Letters letters);

// The same for ids of units, with the first value that names no unit: a missing one, and a float that is no whole
// number or too large to be one exactly.
data::Ids read_ids(const arrow::Array& array, Letters letters, const std::string& column, std::optional<BadRow>& bad);

// The first row whose id is missing.
std::optional<std::int64_t> missing_text(const data::Ids& ids);

}  // namespace dfcl::io
