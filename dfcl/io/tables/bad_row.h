// SPDX-License-Identifier: Apache-2.0
//
// A value of a table that cannot be used, before it is known where in the file it stands. Internal to io.
#pragma once

#include <cstdint>
#include <string>

namespace dfcl::io {

struct BadRow {
  std::int64_t row = 0;  // from 0 inside the part
  std::string column;    // "" where the whole row is meant
  std::string what;
  std::string found;
  std::string expected;
  std::string hint;
};

}  // namespace dfcl::io
